import { describeRecordings, recordingsIn } from './support/replay.ts';

/** The recordings in this repository, or the complete set if a folder with it is configured. */
describeRecordings('answers and rows as recorded from the reference', process.env.CONFORMANCE_RECORDINGS ?? recordingsIn('recordings'));

import { describeRecordings, recordingsIn } from './support/replay.ts';

/** The recordings kept here, or the whole set where a folder of them is named. */
describeRecordings('answers and rows as recorded from the reference', process.env.CONFORMANCE_RECORDINGS ?? recordingsIn('recordings'));

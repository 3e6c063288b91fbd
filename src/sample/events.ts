import type { SampleEvent } from './event.ts';
import { englishEvents } from './events-en.ts';
import { italianEvents } from './events-it.ts';
import { practical } from './practical.ts';

/** All of them, with the practical words that end each description in its language. */
export const sampleEvents: readonly SampleEvent[] = [
  ...englishEvents.map((event) => ({ ...event, text: `${event.text}\n\n${practical(event, 'en')}` })),
  ...italianEvents.map((event) => ({ ...event, text: `${event.text}\n\n${practical(event, 'it')}` })),
];

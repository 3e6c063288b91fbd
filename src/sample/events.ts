import type { SampleEvent, SampleLanguage, SampleText } from './event.ts';
import { englishEvents } from './events-en.ts';
import { italianEvents } from './events-it.ts';
import { practical } from './practical.ts';

/** All sample events; each description ends with practical information in its language. */
export const sampleEvents: readonly SampleEvent[] = [
  ...englishEvents.map((event) => writtenIn('en', event)),
  ...italianEvents.map((event) => writtenIn('it', event)),
];

function writtenIn(language: SampleLanguage, event: SampleText): SampleEvent {
  const fullText = (text: string, spoken: SampleLanguage) => `${text}\n\n${practical(event, spoken)}`;
  const { other } = event;
  return {
    ...event,
    language,
    text: fullText(event.text, language),
    other: { ...other, text: fullText(other.text, language === 'en' ? 'it' : 'en') },
  };
}

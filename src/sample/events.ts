import type { SampleEvent, SampleEventText, SampleLanguage } from './event.ts';
import { englishEvents } from './events-en.ts';
import { italianEvents } from './events-it.ts';
import { practicalInformation } from './practical.ts';

/** All sample events; each description ends with practical information in its language. */
export const sampleEvents: readonly SampleEvent[] = [
  ...englishEvents.map((event) => inLanguage('en', event)),
  ...italianEvents.map((event) => inLanguage('it', event)),
];

function inLanguage(language: SampleLanguage, event: SampleEventText): SampleEvent {
  const fullText = (text: string, textLanguage: SampleLanguage) => `${text}\n\n${practicalInformation(event, textLanguage)}`;
  const { translation } = event;
  return {
    ...event,
    language,
    description: fullText(event.description, language),
    translation: { ...translation, description: fullText(translation.description, language === 'en' ? 'it' : 'en') },
  };
}

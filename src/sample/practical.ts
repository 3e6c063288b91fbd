import type { SampleEventText, SampleLanguage } from './event.ts';

/**
 * Returns practical information for the end of an event's description: price, booking, and what happens if it rains.
 */
export function practicalInformation({ cost, tags = [] }: SampleEventText, language: SampleLanguage): string {
  const texts = SENTENCES[language];
  const sentences = [
    cost === undefined || cost === '0' ? texts.free : texts.paid,
    ...(tags.includes('booking') ? [texts.booking] : []),
    ...(tags.includes('open-air') ? [texts.rain] : []),
    ...(tags.includes('step-free') ? [texts.steps] : []),
  ];
  return sentences.join(' ');
}

interface Sentences {
  readonly free: string;
  readonly paid: string;
  readonly booking: string;
  readonly rain: string;
  readonly steps: string;
}

const SENTENCES: Readonly<Record<SampleLanguage, Sentences>> = {
  en: {
    free: 'Admission is free; seats are given in the order of arrival.',
    paid: 'Tickets at the entrance from half an hour before; children under ten come in free.',
    booking: 'Places are few, so please book with the organizers.',
    rain: 'If it rains we move under the arcades.',
    steps: 'The place can be reached without steps.',
  },
  it: {
    free: 'Ingresso libero fino a esaurimento dei posti.',
    paid: 'Biglietti all’ingresso a partire da mezz’ora prima; gratis sotto i dieci anni.',
    booking: 'I posti sono pochi: è gradita la prenotazione presso gli organizzatori.',
    rain: 'In caso di pioggia ci si sposta sotto i portici.',
    steps: 'Il luogo è raggiungibile senza gradini.',
  },
};

import type { PostKindName } from '../../kinds/kind-names.ts';

/** Names of columns -> what tables that the plugin did not write head them with. */
type Headings = Readonly<Record<string, readonly string[]>>;

/**
 * Headings of tables that people keep in Italian, and of those that Google's and Microsoft's calendars write. Case,
 * blanks and signs do not count.
 */
export const HEADINGS: Readonly<Record<PostKindName, Headings>> = {
  event: {
    name: [
      'Titolo',
      'Titolo Evento',
      'Nome Evento',
      'Nome dell’evento',
      'Evento',
      'Oggetto',
      'Subject',
      'Summary',
      'Event',
      'Denominazione',
    ],
    description: ['Descrizione', 'Descrizione Evento', 'Testo', 'Post Content'],
    excerpt: ['Riassunto', 'Estratto'],
    start_date: ['Data Inizio', 'Data di Inizio', 'Data Inizio Evento', 'Inizio', 'Dal', 'Data', 'Start', 'Date', 'When', 'Quando'],
    start_time: ['Ora Inizio', 'Ora di Inizio', 'Orario Inizio', 'Orario di Inizio', 'Ora', 'Orario', 'Time'],
    end_date: ['Data Fine', 'Data di Fine', 'Data Fine Evento', 'Fine', 'Al', 'End'],
    end_time: ['Ora Fine', 'Ora di Fine', 'Orario Fine', 'Orario di Fine'],
    timezone: ['Fuso Orario', 'Fuso'],
    all_day: ['Tutto il Giorno', 'Giornata Intera', 'Intera Giornata', 'Evento di un Giorno Intero', 'Evento Giornata Intera'],
    private: ['Private', 'Privato', 'Privata', 'Evento Privato', 'Sensitivity', 'Riservatezza', 'Criterio di Riservatezza'],
    hide: ['Nascosto', 'Nascondi'],
    featured: ['In Evidenza', 'In Primo Piano'],
    venue: ['Luogo', 'Nome Luogo', 'Sede', 'Località', 'Posizione', 'Location', 'Location Name', 'Where', 'Dove'],
    organizers: ['Organizzatore', 'Organizzatori', 'Nome Organizzatore', 'Organizzatore Riunione', 'Meeting Organizer'],
    cost: ['Prezzo', 'Costo', 'Ingresso', 'Price'],
    currency_symbol: ['Simbolo Valuta'],
    currency_code: ['Valuta', 'Codice Valuta', 'Currency'],
    categories: ['Categoria', 'Categorie'],
    tags: ['Etichetta', 'Etichette'],
    website: ['Sito', 'Sito Web', 'Indirizzo Web', 'Link', 'URL'],
    image: ['Immagine', 'Immagine in Evidenza'],
  },
  venue: {
    name: ['Luogo', 'Nome Luogo', 'Nome del Luogo', 'Nome', 'Sede'],
    description: ['Descrizione'],
    country: ['Paese', 'Stato', 'Nazione'],
    address: ['Indirizzo', 'Via', 'Street'],
    city: ['Città', 'Comune', 'Località', 'Town'],
    state: ['Provincia', 'Regione'],
    zip: ['CAP', 'Codice Postale'],
    phone: ['Telefono'],
    website: ['Sito', 'Sito Web'],
    image: ['Immagine'],
  },
  organizer: {
    name: ['Organizzatore', 'Nome Organizzatore', 'Nome dell’organizzatore', 'Nome'],
    description: ['Descrizione'],
    email: ['E-mail', 'Indirizzo E-mail', 'Posta Elettronica'],
    phone: ['Telefono'],
    website: ['Sito', 'Sito Web'],
    image: ['Immagine'],
  },
};

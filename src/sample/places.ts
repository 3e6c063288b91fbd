import type { PictureName } from './pictures.ts';

/**
 * The town of the sample calendar is fictional; its coordinates are in the hills of Umbria. Phone numbers and addresses
 * do not exist.
 */
const TOWN = { city: 'Borgo Selvachiara', province: 'Perugia', zip: '06099', country: 'Italy' } as const;
const IN_ITALIAN = { country: 'Italia' } as const;

export interface SampleVenue {
  readonly key: string;
  readonly picture?: PictureName;
  readonly fields: Readonly<Record<string, unknown>>;
  /** Italian values of its fields. */
  readonly italian: Readonly<Record<string, unknown>>;
}

export interface SampleOrganizer extends Omit<SampleVenue, 'picture'> {}

export interface SampleTerm {
  readonly name: string;
  readonly slug: string;
  readonly description: string;
  readonly italian: { readonly name: string; readonly description: string };
  readonly children: readonly SampleTerm[];
}

const venue = (
  key: string,
  name: string,
  address: string,
  place: readonly [number, number] | undefined,
  description: string,
  italian: string,
  extraFields: Readonly<Record<string, unknown>> = {},
  picture?: PictureName,
): SampleVenue => ({
  key,
  italian: { venue: name, description: italian, ...IN_ITALIAN },
  ...(picture ? { picture } : {}),
  fields: {
    venue: name,
    description,
    address,
    ...TOWN,
    ...(place ? { geo_lat: place[0], geo_lng: place[1] } : {}),
    show_map: true,
    show_map_link: true,
    ...extraFields,
  },
});

const organizer = (
  key: string,
  name: string,
  description: string,
  italian: string,
  contact: number,
  { website = true } = {},
): SampleOrganizer => ({
  key,
  italian: { organizer: name, description: italian },
  fields: {
    organizer: name,
    description,
    phone: `+39 075 555 01${contact}`,
    email: `${key}@example.org`,
    ...(website ? { website: `https://${key}.example.org/` } : {}),
  },
});

export const venues: readonly SampleVenue[] = [
  venue(
    'piazza',
    'Piazza Grande',
    'Piazza Grande',
    [43.38241, 12.48122],
    'The heart of the town, paved with brick and framed by arcades. Cars stay outside.',
    'Il cuore del paese, lastricato in mattoni e chiuso dai portici. Le auto restano fuori.',
    {},
    'piazza',
  ),
  venue(
    'teatro',
    'Teatro della Concordia',
    'Via del Teatro, 4',
    [43.38297, 12.48205],
    'Ninety-nine seats, three tiers of boxes and a painted ceiling of 1808. Box office on weekdays from 17:00 to 19:00.',
    'Novantanove posti, tre ordini di palchi e un soffitto dipinto nel 1808. Botteghino nei giorni feriali dalle 17 alle 19.',
    { phone: '+39 075 555 0110', website: 'https://teatro.example.org/' },
    'theatre',
  ),
  venue(
    'biblioteca',
    'Biblioteca comunale',
    'Via delle Logge, 12',
    [43.38188, 12.48061],
    'Two reading rooms and a courtyard with a fig tree, in the former convent of the Poor Clares.',
    'Due sale di lettura e un cortile con il fico, nell’ex convento delle Clarisse.',
    { phone: '+39 075 555 0112' },
    'books',
  ),
  venue(
    'priori',
    'Palazzo dei Priori, Sala degli Affreschi',
    'Piazza Grande, 1',
    [43.38252, 12.48094],
    'The frescoed council hall of the town. Step-free access from Via del Forno.',
    'La sala affrescata del consiglio comunale. Accesso senza gradini da Via del Forno.',
    { phone: '+39 075 555 0114' },
  ),
  venue(
    'sanlorenzo',
    'Chiesa di San Lorenzo',
    'Via San Lorenzo',
    [43.38342, 12.4798],
    'A Romanesque church with an organ of 1764 that is still played.',
    'Una chiesa romanica con un organo del 1764 che suona ancora.',
    {},
  ),
  venue(
    'museo',
    'Museo della Carta e dei Mulini',
    'Via del Mulino, 30',
    [43.37795, 12.48633],
    'Paper has been made at this mill by the river since 1391. Guided tours in Italian and English.',
    'In questo mulino sul fiume si fa la carta dal 1391. Visite guidate in italiano e in inglese.',
    { phone: '+39 075 555 0118', website: 'https://museo.example.org/' },
  ),
  venue(
    'parco',
    'Parco del Lavatoio',
    'Viale dei Tigli',
    [43.37986, 12.47842],
    'Lime trees, the old wash-house and a meadow down to the stream.',
    'Tigli, il vecchio lavatoio e un prato che scende fino al torrente.',
    {},
    'trail',
  ),
  venue(
    'aurora',
    'Cinema Aurora',
    'Corso Umbro, 57',
    [43.38121, 12.48317],
    'One screen, saved by its audience in 2011 and run by volunteers since.',
    'Una sala sola, salvata dal suo pubblico nel 2011 e gestita da allora da volontari.',
    { phone: '+39 075 555 0120' },
    'film',
  ),
  venue(
    'cantina',
    'Cantina Poggio Sereno',
    'Strada di Poggio Sereno, 8',
    [43.36418, 12.50276],
    'A family cellar among its own vineyards, four kilometres from the town.',
    'Una cantina di famiglia tra le proprie vigne, a quattro chilometri dal paese.',
    { phone: '+39 075 555 0122', website: 'https://cantina.example.org/' },
    'wine',
  ),
  venue(
    'palestra',
    'Palazzetto dello sport',
    'Via dello Stadio, 2',
    [43.37722, 12.47711],
    'Sports hall with 400 seats; the athletics track is next door.',
    'Palazzetto da 400 posti; accanto, la pista di atletica.',
    { phone: '+39 075 555 0124' },
    'sport',
  ),
  venue(
    'fornace',
    'Centro giovani La Fornace',
    'Via della Fornace, 19',
    [43.37913, 12.48512],
    'Rehearsal rooms, a small stage and a workshop in the old brick kiln.',
    'Sale prova, un piccolo palco e un laboratorio nella vecchia fornace di mattoni.',
    { phone: '+39 075 555 0126' },
  ),
  // The hut has neither a street nor coordinates.
  venue(
    'rifugio',
    'Rifugio Monte Chiaro',
    'Sentiero 214',
    undefined,
    'A hut at 1,120 metres, an hour and a half on foot from the last car park.',
    'Un rifugio a 1.120 metri, a un’ora e mezza di cammino dall’ultimo parcheggio.',
    { zip: '', show_map: false, show_map_link: false },
  ),
];

export const organizers: readonly SampleOrganizer[] = [
  organizer(
    'proloco',
    'Pro Loco Borgo Selvachiara',
    'Volunteers who keep the feasts of the town alive, and cook for them.',
    'Volontari che tengono vive le feste del paese, e ci cucinano.',
    40,
  ),
  organizer(
    'comune',
    'Comune di Borgo Selvachiara',
    'The town council and its office for culture.',
    'Il Comune e il suo ufficio cultura.',
    41,
  ),
  organizer(
    'filarmonica',
    'Filarmonica Selvachiara',
    'Wind band and music school, founded in 1873.',
    'Banda e scuola di musica, fondate nel 1873.',
    42,
  ),
  organizer(
    'mulino',
    'Associazione culturale Il Mulino',
    'Concerts, exhibitions and talks around the paper mill.',
    'Concerti, mostre e incontri intorno alla cartiera.',
    43,
  ),
  organizer(
    'montechiaro',
    'Gruppo escursionisti Monte Chiaro',
    'Walks for every pair of legs, all year round.',
    'Camminate per tutte le gambe, tutto l’anno.',
    44,
  ),
  organizer(
    'imprevisti',
    'Compagnia Gli Imprevisti',
    'Theatre by amateurs who take it seriously, and themselves less so.',
    'Teatro fatto da dilettanti che lo prendono sul serio, e se stessi un po’ meno.',
    45,
  ),
  organizer('lettori', 'Amici della Biblioteca', 'Readers who read aloud.', 'Lettori che leggono ad alta voce.', 46, { website: false }),
  organizer(
    'cineforum',
    'Cineforum Aurora',
    'Films in their own language, with subtitles and a glass of wine afterwards.',
    'Film in lingua originale, con i sottotitoli e un bicchiere di vino alla fine.',
    47,
  ),
  organizer(
    'consorzio',
    'Consorzio Produttori della Valle',
    'Growers, shepherds, bakers and beekeepers of the valley.',
    'Coltivatori, pastori, fornai e apicoltori della valle.',
    48,
  ),
  organizer(
    'polisportiva',
    'Polisportiva Selvachiara',
    'Sport for children and adults, with eleven sections.',
    'Sport per bambini e adulti, in undici sezioni.',
    49,
  ),
];

const term = (
  slug: string,
  name: string,
  italian: string,
  children: readonly SampleTerm[] = [],
  description = '',
  italianDescription = '',
): SampleTerm => ({
  slug,
  name,
  children,
  description,
  italian: { name: italian, description: italianDescription },
});

export const categories: readonly SampleTerm[] = [
  term(
    'music',
    'Music',
    'Musica',
    [
      term('classical', 'Classical music', 'Musica classica'),
      term('jazz-folk', 'Jazz & folk', 'Jazz e folk'),
      term('bands-choirs', 'Bands and choirs', 'Bande e cori'),
    ],
    'Concerts and everything that sounds.',
    'Concerti e tutto quello che suona.',
  ),
  term('stage', 'Theatre & dance', 'Teatro e danza', [term('comedy', 'Comedy', 'Commedia'), term('dance', 'Dance', 'Danza')]),
  term('film', 'Film', 'Cinema'),
  term('food-wine', 'Food & wine', 'Cibo e vino', [
    term(
      'sagre',
      'Food festivals',
      'Sagre',
      [],
      'One product, many tables, a whole town in the kitchen.',
      'Un prodotto, molte tavole, un intero paese in cucina.',
    ),
    term('tastings', 'Tastings', 'Degustazioni'),
  ]),
  term('markets', 'Markets', 'Mercati', [
    term('farmers-market', "Farmers' market", 'Mercato contadino'),
    term('antiques', 'Antiques', 'Antiquariato'),
  ]),
  term('outdoors', 'Outdoors', 'All’aria aperta', [term('walks', 'Walks', 'Camminate'), term('cycling', 'Cycling', 'Bicicletta')]),
  term('sport', 'Sport', 'Sport'),
  term('families', 'Children and families', 'Bambini e famiglie', [term('workshops', 'Workshops', 'Laboratori')]),
  term('talks', 'Talks & books', 'Incontri e libri'),
  term('exhibitions', 'Exhibitions', 'Mostre'),
  term('traditions', 'Traditions', 'Tradizioni', [], 'Feasts that come back every year.', 'Feste che tornano ogni anno.'),
];

export const tags: readonly SampleTerm[] = [
  term('free-entry', 'free entry', 'ingresso libero'),
  term('family-friendly', 'family friendly', 'per famiglie'),
  term('open-air', 'open air', 'all’aperto'),
  term('in-english', 'in English', 'in inglese'),
  term('step-free', 'step-free access', 'senza gradini'),
  term('booking', 'booking required', 'su prenotazione'),
  term('live-music', 'live music', 'musica dal vivo'),
  term('local-products', 'local products', 'prodotti locali'),
  term('evening', 'evening', 'di sera'),
  term('heritage', 'heritage', 'patrimonio'),
  term('volunteers', 'volunteers', 'volontari'),
];

/** Two posts of the site's blog, which shares its tags with the calendar. */
export const blog: readonly { readonly title: string; readonly text: string; readonly tags: readonly string[] }[] = [
  {
    title: 'The calendar of the town is online',
    text: 'Concerts, markets, walks and feasts of Borgo Selvachiara now stand in one place, and every association can add its own.',
    tags: ['heritage', 'volunteers'],
  },
  {
    title: 'Cercasi volontari per la sagra',
    text: 'La Pro Loco cerca una mano in cucina, ai tavoli e al parcheggio. Il compenso: un posto a tavola e molta compagnia.',
    tags: ['volunteers', 'local-products'],
  },
];

import type { PictureName } from './pictures.ts';

/**
 * The town of the sample calendar does not exist; its coordinates lie in the hills of Umbria. Telephones and addresses
 * lead nowhere.
 */
const TOWN = { city: 'Borgo Selvachiara', province: 'Perugia', zip: '06099', country: 'Italy' } as const;

export interface SampleVenue {
  readonly key: string;
  readonly picture?: PictureName;
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface SampleOrganizer {
  readonly key: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface SampleTerm {
  readonly name: string;
  readonly slug: string;
  readonly description?: string;
  readonly children?: readonly SampleTerm[];
}

const venue = (
  key: string,
  name: string,
  address: string,
  place: readonly [number, number] | undefined,
  description: string,
  more: Readonly<Record<string, unknown>> = {},
  picture?: PictureName,
): SampleVenue => ({
  key,
  ...(picture ? { picture } : {}),
  fields: {
    venue: name,
    description,
    address,
    ...TOWN,
    ...(place ? { geo_lat: place[0], geo_lng: place[1] } : {}),
    show_map: true,
    show_map_link: true,
    ...more,
  },
});

const organizer = (key: string, name: string, description: string, contact: number, website = true): SampleOrganizer => ({
  key,
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
    {},
    'piazza',
  ),
  venue(
    'teatro',
    'Teatro della Concordia',
    'Via del Teatro, 4',
    [43.38297, 12.48205],
    'Ninety-nine seats, three tiers of boxes and a painted ceiling of 1808. Box office on weekdays from 17:00 to 19:00.',
    { phone: '+39 075 555 0110', website: 'https://teatro.example.org/' },
    'theatre',
  ),
  venue(
    'biblioteca',
    'Biblioteca comunale',
    'Via delle Logge, 12',
    [43.38188, 12.48061],
    'Two reading rooms and a courtyard with a fig tree, in the former convent of the Poor Clares.',
    { phone: '+39 075 555 0112' },
    'books',
  ),
  venue(
    'priori',
    'Palazzo dei Priori, Sala degli Affreschi',
    'Piazza Grande, 1',
    [43.38252, 12.48094],
    'The frescoed council hall of the town. Step-free access from Via del Forno.',
    { phone: '+39 075 555 0114' },
  ),
  venue(
    'sanlorenzo',
    'Chiesa di San Lorenzo',
    'Via San Lorenzo',
    [43.38342, 12.4798],
    'A Romanesque church with an organ of 1764 that is still played.',
    {},
  ),
  venue(
    'museo',
    'Museo della Carta e dei Mulini',
    'Via del Mulino, 30',
    [43.37795, 12.48633],
    'Paper has been made at this mill by the river since 1391. Guided tours in Italian and English.',
    { phone: '+39 075 555 0118', website: 'https://museo.example.org/' },
  ),
  venue(
    'parco',
    'Parco del Lavatoio',
    'Viale dei Tigli',
    [43.37986, 12.47842],
    'Lime trees, the old wash-house and a meadow down to the stream.',
    {},
    'trail',
  ),
  venue(
    'aurora',
    'Cinema Aurora',
    'Corso Umbro, 57',
    [43.38121, 12.48317],
    'One screen, saved by its audience in 2011 and run by volunteers since.',
    { phone: '+39 075 555 0120' },
    'film',
  ),
  venue(
    'cantina',
    'Cantina Poggio Sereno',
    'Strada di Poggio Sereno, 8',
    [43.36418, 12.50276],
    'A family cellar among its own vineyards, four kilometres from the town.',
    { phone: '+39 075 555 0122', website: 'https://cantina.example.org/' },
    'wine',
  ),
  venue(
    'palestra',
    'Palazzetto dello sport',
    'Via dello Stadio, 2',
    [43.37722, 12.47711],
    'Sports hall with 400 seats; the athletics track is next door.',
    { phone: '+39 075 555 0124' },
    'sport',
  ),
  venue(
    'fornace',
    'Centro giovani La Fornace',
    'Via della Fornace, 19',
    [43.37913, 12.48512],
    'Rehearsal rooms, a small stage and a workshop in the old brick kiln.',
    { phone: '+39 075 555 0126' },
  ),
  // On the mountain there is no street, and nobody has written down where exactly it is.
  venue(
    'rifugio',
    'Rifugio Monte Chiaro',
    'Sentiero 214',
    undefined,
    'A hut at 1,120 metres, an hour and a half on foot from the last car park.',
    { zip: '', show_map: false, show_map_link: false },
  ),
];

export const organizers: readonly SampleOrganizer[] = [
  organizer('proloco', 'Pro Loco Borgo Selvachiara', 'Volunteers who keep the feasts of the town alive, and cook for them.', 40),
  organizer('comune', 'Comune di Borgo Selvachiara', 'The town council and its office for culture.', 41),
  organizer('filarmonica', 'Filarmonica Selvachiara', 'Wind band and music school, founded in 1873.', 42),
  organizer('mulino', 'Associazione culturale Il Mulino', 'Concerts, exhibitions and talks around the paper mill.', 43),
  organizer('montechiaro', 'Gruppo escursionisti Monte Chiaro', 'Walks for every pair of legs, all year round.', 44),
  organizer('imprevisti', 'Compagnia Gli Imprevisti', 'Theatre by amateurs who take it seriously, and themselves less so.', 45),
  organizer('lettori', 'Amici della Biblioteca', 'Readers who read aloud.', 46, false),
  organizer('cineforum', 'Cineforum Aurora', 'Films in their own language, with subtitles and a glass of wine afterwards.', 47),
  organizer('consorzio', 'Consorzio Produttori della Valle', 'Growers, shepherds, bakers and beekeepers of the valley.', 48),
  organizer('polisportiva', 'Polisportiva Selvachiara', 'Sport for children and adults, with eleven sections.', 49),
];

const term = (slug: string, name: string, children: readonly SampleTerm[] = [], description = ''): SampleTerm => ({
  slug,
  name,
  children,
  description,
});

export const categories: readonly SampleTerm[] = [
  term(
    'music',
    'Music',
    [term('classical', 'Classical music'), term('jazz-folk', 'Jazz & folk'), term('bands-choirs', 'Bands and choirs')],
    'Concerts and everything that sounds.',
  ),
  term('stage', 'Theatre & dance', [term('comedy', 'Comedy'), term('dance', 'Dance')]),
  term('film', 'Film'),
  term('food-wine', 'Food & wine', [
    term('sagre', 'Food festivals', [], 'One product, many tables, a whole town in the kitchen.'),
    term('tastings', 'Tastings'),
  ]),
  term('markets', 'Markets', [term('farmers-market', "Farmers' market"), term('antiques', 'Antiques')]),
  term('outdoors', 'Outdoors', [term('walks', 'Walks'), term('cycling', 'Cycling')]),
  term('sport', 'Sport'),
  term('families', 'Children and families', [term('workshops', 'Workshops')]),
  term('talks', 'Talks & books'),
  term('exhibitions', 'Exhibitions'),
  term('traditions', 'Traditions', [], 'Feasts that come back every year.'),
];

export const tags: readonly SampleTerm[] = [
  term('free-entry', 'free entry'),
  term('family-friendly', 'family friendly'),
  term('open-air', 'open air'),
  term('in-english', 'in English'),
  term('step-free', 'step-free access'),
  term('booking', 'booking required'),
  term('live-music', 'live music'),
  term('local-products', 'local products'),
  term('evening', 'evening'),
  term('heritage', 'heritage'),
  term('volunteers', 'volunteers'),
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

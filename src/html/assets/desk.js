// Conveniences for the forms of the desk. Everything works without this script.

/**
 * Asks for confirmation before an action that cannot be undone easily. A button with its own URL does not run the
 * action selected next to it.
 */
addEventListener('submit', (event) => {
  const { submitter, target } = event;
  const chosen = submitter?.hasAttribute('formaction') ? undefined : target.querySelector('option[data-confirm]:checked');
  const question = submitter?.dataset.confirm ?? chosen?.dataset.confirm ?? target.dataset.confirm;
  if (!question) return;
  if (!confirm(question)) event.preventDefault();
  // Without this field, the server asks the same question.
  else if (!target.elements.confirmed)
    target.append(Object.assign(document.createElement('input'), { type: 'hidden', name: 'confirmed', value: '1' }));
});

/** Prevents a second click from submitting a form twice, which would create records twice. */
const sent = new Map();
const SENDING_MS = 15_000;
addEventListener('submit', (event) => {
  if (event.defaultPrevented || event.target.method !== 'post') return;
  const now = performance.now();
  if (now < (sent.get(event.target) ?? 0)) event.preventDefault();
  else sent.set(event.target, now + SENDING_MS);
});
// After returning to the page, the form can be submitted again.
addEventListener('pageshow', () => sent.clear());

// ------------------------------------------------------------------------------------------------- drafts
/** Keeps the input of a form in this browser until it is saved. */
function keepDraft(form) {
  const key = `fasti-draft ${form.dataset.draft}`;
  const typed = () => [...new FormData(form)].filter(([name, value]) => typeof value === 'string' && !FORM_OWN.includes(name));
  const begun = JSON.stringify(typed());
  const keep = () => localStorage.setItem(key, JSON.stringify({ version: form.elements.version.value, typed: typed() }));
  const done = new URLSearchParams(location.search).get('done');
  // The input is kept until this very form is saved, even if others are.
  if (['created', 'saved'].includes(done)) localStorage.removeItem(sessionStorage.getItem(SENT) ?? key);
  const kept = draftIn(localStorage.getItem(key));
  // A form that is shown again contains the input, together with what the server has added: a picture, coordinates,
  // another user's changes.
  if ('shownAgain' in form.dataset) keep();
  else if (kept && JSON.stringify(kept.typed) !== begun) offer(form, kept, key);
  form.addEventListener('submit', () => sessionStorage.setItem(SENT, key));
  // A script may move the end after the start has changed, which happens after the input event.
  for (const name of ['input', 'change']) form.addEventListener(name, keep);
}

/**
 * Removes the message about a completed action from the URL: when the page is reloaded, input entered since then is
 * still kept.
 */
function forgetDone() {
  const { pathname, searchParams } = new URL(location.href);
  if (!searchParams.has('done')) return;
  for (const name of ['done', 'count', 'failed']) searchParams.delete(name);
  history.replaceState(history.state, '', pathname + (searchParams.size > 0 ? `?${searchParams}` : ''));
}

/** Key of the storage entry with the key of the draft that was sent last. */
const SENT = 'fasti-sent';

/** Fields of the form itself, which contain no user input. */
const FORM_OWN = ['_wpnonce', 'version', 'fields', 'form_key'];

/** Returns a stored draft; undefined if there is none or it is invalid. */
function draftIn(text) {
  try {
    const draft = JSON.parse(text);
    return Array.isArray(draft?.typed) ? draft : undefined;
  } catch {
    return undefined;
  }
}

function offer(form, kept, key) {
  const bar = document.createElement('p');
  bar.className = 'notice notice-good';
  bar.setAttribute('role', 'status');
  bar.append(`${form.dataset.found} `);
  const button = (text, work) => {
    const made = document.createElement('button');
    made.type = 'button';
    made.textContent = text;
    made.addEventListener('click', () => {
      work();
      bar.remove();
    });
    bar.append(made, ' ');
  };
  button(form.dataset.restore, () => restore(form, kept));
  button(form.dataset.discard, () => localStorage.removeItem(key));
  form.before(bar);
}

/**
 * Restores a draft, including its version: if another user has saved the record since, the server shows both versions.
 */
function restore(form, { typed, version }) {
  const values = new Map();
  for (const [name, value] of typed) values.set(name, [...(values.get(name) ?? []), value]);
  for (const element of form.elements) {
    if (!element.name || element.type === 'file' || FORM_OWN.includes(element.name)) continue;
    const own = values.get(element.name) ?? [];
    if (element.type === 'checkbox' || element.type === 'radio') element.checked = own.includes(element.value);
    else if (own.length > 0) element.value = own.shift();
  }
  for (const [name, others] of values) if (name.endsWith('[add][]')) for (const value of others) addBox(form, name, value);
  form.elements.version.value = version;
  form.dispatchEvent(new Event('restored'));
}

/**
 * Adds another box with the same name: a form that was shown again with an organizer has more boxes than a newly opened
 * one.
 */
function addBox(form, name, value) {
  const last = [...form.elements].findLast((element) => element.name === name)?.closest('label');
  const box = last?.cloneNode(true);
  if (!box) return;
  box.querySelector('input').value = value;
  last.after(box);
}

// ------------------------------------------------------------------------------------------------- links
/** Offers venues and organizers that match the input. */
function completeLinks(fieldset) {
  const base = location.pathname.replace(/(\/admin)\/.*$/, '$1');
  const choices = fieldset.querySelector('datalist');
  let waiting;
  fieldset.addEventListener('input', ({ target }) => {
    if (target.getAttribute('list') !== choices?.id) return;
    clearTimeout(waiting);
    waiting = setTimeout(async () => {
      const { value: typed } = target;
      const answer = await fetch(`${base}/find/${fieldset.dataset.links}?q=${encodeURIComponent(typed)}`).catch(() => undefined);
      if (!answer?.ok) return;
      const found = await answer.json();
      // An answer about an earlier input may arrive after that about the present one.
      if (target.value !== typed) return;
      choices.replaceChildren(...found.map((value) => Object.assign(document.createElement('option'), { value })));
    }, 200);
  });
}

// ------------------------------------------------------------------------------------------------- dates
/** Duration of an event until its end is entered. */
const TWO_HOURS_MS = 2 * 3600 * 1000;

/** Moves the end when the start changes. */
function followStart(form) {
  const at = (name) => form.querySelector(`[name="${name}"]`);
  const [day, time, endDay, endTime] = ['start_date[date]', 'start_date[time]', 'end_date[date]', 'end_date[time]'].map(at);
  if (!day || !time || !endDay || !endTime) return;
  const moment = (date, clock) => (date.value ? Date.parse(`${date.value}T${clock.value || '00:00'}Z`) : Number.NaN);
  let before = moment(day, time);
  const follow = () => {
    const now = moment(day, time);
    // While a date is being typed there is no valid one; the end is moved relative to the last valid start.
    if (Number.isNaN(now)) return;
    const next = nextEnd(now);
    before = now;
    if (Number.isNaN(next)) return;
    const text = new Date(next).toISOString();
    endDay.value = text.slice(0, 10);
    if (time.value) endTime.value = text.slice(11, 16);
  };
  /** The new end, NaN if it stays. An end without a time gets one as soon as the start has one. */
  const nextEnd = (now) => {
    const end = moment(endDay, endTime);
    if (Number.isNaN(end)) return now + TWO_HOURS_MS;
    return time.value && !endTime.value ? moment(endDay, time) + TWO_HOURS_MS : end + now - before;
  };
  form.addEventListener('restored', () => {
    before = moment(day, time);
  });
  day.addEventListener('change', follow);
  time.addEventListener('change', follow);
}

/** Shows the dates of an event in words, including the weekdays, while they are entered. */
function sayDates(form) {
  const end = form.querySelector('[name="end_date[date]"]')?.closest('fieldset');
  if (!end) return;
  const said = Object.assign(document.createElement('p'), { className: 'hint dates-said' });
  end.append(said);
  const entered = (name) => form.elements.namedItem(name)?.value ?? '';
  const say = () => {
    const allDay = form.elements.namedItem('all_day')?.checked;
    const moment = (name) => Date.parse(`${entered(`${name}[date]`)}T${(!allDay && entered(`${name}[time]`)) || '00:00'}Z`);
    const [from, to] = [moment('start_date'), moment('end_date')];
    const words = new Intl.DateTimeFormat(form.dataset.locale, {
      dateStyle: 'full',
      ...(allDay ? {} : { timeStyle: 'short', hourCycle: form.dataset.clock }),
      timeZone: 'UTC',
    });
    said.textContent = from <= to ? words.formatRange(from, to) : '';
  };
  for (const name of ['input', 'change', 'restored']) form.addEventListener(name, say);
  say();
}

// ------------------------------------------------------------------------------------------------- lists
/** The checkbox that selects all rows of a list. */
function selectAll(label) {
  const all = label.querySelector('input');
  const rows = () => document.querySelectorAll(`input[type="checkbox"][form="${label.closest('form').id}"]`);
  if (rows().length < 2) return;
  label.hidden = false;
  all.addEventListener('change', () => {
    for (const row of rows()) row.checked = all.checked;
  });
}

// ------------------------------------------------------------------------------------------------- pictures
/** Accepts a picture dropped on its field, and shows the chosen one before it is saved. */
function takePicture(fieldset) {
  const file = fieldset.querySelector('input[type="file"]');
  if (!file) return;
  const figure = document.createElement('figure');
  figure.className = 'form-chosen';
  figure.hidden = true;
  const picture = document.createElement('img');
  picture.className = 'form-image';
  picture.alt = '';
  const caption = document.createElement('figcaption');
  caption.className = 'quiet';
  caption.textContent = fieldset.dataset.chosen;
  figure.append(picture, caption);
  file.closest('label').after(figure);
  // A file that the browser cannot display is sent nevertheless.
  picture.addEventListener('load', () => {
    figure.hidden = false;
  });
  const [alt, begun] = ['alt', 'alt_shown'].map((name) => fieldset.querySelector(`[name$="[${name}]"]`));
  /** Empties the description of the former picture, which does not fit a new one; without a file it comes back. */
  const describe = (chosen) => {
    if (!alt || !begun) return;
    if (chosen && alt.value === begun.value) alt.value = '';
    else if (!chosen && alt.value === '') alt.value = begun.value;
  };
  const show = () => {
    figure.hidden = true;
    const [chosen] = file.files;
    describe(chosen);
    // A file that is too large is refused before it is sent, since the server would refuse the whole form.
    file.setCustomValidity(chosen?.size > Number(fieldset.dataset.most) ? fieldset.dataset.tooLarge : '');
    file.reportValidity();
    const reader = new FileReader();
    // The page's policy allows pictures in `data:` URLs.
    reader.addEventListener('load', () => {
      if (file.files[0] === chosen) picture.src = reader.result;
    });
    if (chosen?.type.startsWith('image/')) reader.readAsDataURL(chosen);
  };
  file.addEventListener('change', show);
  fieldset.addEventListener('dragover', (event) => event.preventDefault());
  fieldset.addEventListener('drop', (event) => {
    if (event.dataTransfer.files.length === 0) return;
    event.preventDefault();
    file.files = event.dataTransfer.files;
    show();
  });
}

// ------------------------------------------------------------------------------------------------- the month
/** Moves an event to the day on which it is dropped. */
function moveEvents(form) {
  for (const item of document.querySelectorAll('[data-event]')) {
    item.draggable = true;
    item.addEventListener('dragstart', (event) =>
      event.dataTransfer.setData('text/plain', `${item.dataset.event} ${item.dataset.version}`),
    );
  }
  for (const cell of document.querySelectorAll('[data-day]')) {
    cell.addEventListener('dragover', (event) => event.preventDefault());
    cell.addEventListener('drop', (event) => {
      event.preventDefault();
      const [id, version = ''] = event.dataTransfer.getData('text/plain').split(' ');
      if (!/^\d+$/.test(id)) return;
      for (const [name, value] of [
        ['id', id],
        ['version', version],
        ['day', cell.dataset.day],
      ]) {
        form.append(Object.assign(document.createElement('input'), { type: 'hidden', name, value }));
      }
      form.submit();
    });
  }
}

// ------------------------------------------------------------------------------------------------- progress
/** Reloads the progress of an operation from the URL in the element, until the operation has ended. */
function lookAgain(part) {
  setTimeout(async () => {
    const answer = await fetch(part.dataset.refresh).catch(() => undefined);
    // If the user has been signed out in the meantime, the reloaded page says so.
    if (answer?.status === 401 || answer?.status === 403) return location.reload();
    const page = answer?.ok ? new DOMParser().parseFromString(await answer.text(), 'text/html') : undefined;
    const next = page?.querySelector('[data-refresh]');
    if (!page) lookAgain(part);
    else if (next) {
      part.replaceWith(next);
      lookAgain(next);
    } else location.reload();
  }, 1500);
}

for (const part of document.querySelectorAll('[data-refresh]')) lookAgain(part);
for (const form of document.querySelectorAll('form[data-draft]')) keepDraft(form);
forgetDone();
for (const form of document.querySelectorAll('.record-form')) {
  followStart(form);
  sayDates(form);
}
for (const label of document.querySelectorAll('[data-select-all]')) selectAll(label);
for (const fieldset of document.querySelectorAll('[data-links]')) completeLinks(fieldset);
for (const fieldset of document.querySelectorAll('[data-drop]')) takePicture(fieldset);
for (const form of document.querySelectorAll('[data-move]')) moveEvents(form);

/** Page of an event with its date above the title. `h` creates elements; texts in them are escaped. */
export default ({ card, description, locked, places, i18n }, { h, Link, Rendered }) =>
  h(
    'article',
    { class: 'record' },
    h('p', { class: 'record-when' }, card.when),
    h('h1', null, card.title),
    locked
      ? h('form', { method: 'post' }, [
          h('label', { for: 'word' }, i18n.say('pages:password')),
          h('input', { id: 'word', type: 'password', name: 'post_password' }),
          h('button', null, i18n.say('pages:open')),
        ])
      : h(Rendered, { html: description, class: 'text' }),
    places.map((place) => h('p', { key: place.href }, i18n.say('pages:where'), ': ', h(Link, { href: place.href }, place.name))),
  );

/** Arguments that shorten each script of `npm run attacks` and `npm run faults` from hours to minutes. */
export const SHORT = new Map(
  Object.entries({
    'attacks/bodies': '',
    'attacks/cost': '--events 1000 --database sqlite',
    'attacks/growth': '--only search',
    'attacks/shared-cache': '--requests 300',
    'attacks/sign-in': '--tries 60 --rounds 1',
    'attacks/slow': 'body --seconds 15',
    'attacks/sqlmap': '--only tec/v1/events.search --database sqlite --level 1 --minutes 3',
    'attacks/xss': '--only sqlite --every 200 --field title',
    'faults/beside': '--writes 60 --database mysql',
    'faults/crowded': '--rounds 2 --clients 20 --seconds 3',
    'faults/galera': '--only names --names 100',
    'faults/hours': '--minutes 2 --database sqlite',
    'faults/kills': '--rounds 2 --server-rounds 1',
    'faults/lost-update': '--clients 20',
    'faults/names': '--creates 200',
    'faults/restarts': '--rounds 1 --only single',
    'faults/retries': '--tries 500 --kills 1',
    'faults/webhooks': '--rounds 2',
    'faults/writers': '--writers 16 --writes 10',
  }),
);

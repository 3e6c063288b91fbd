import type { KindName } from '../kinds/kind-names.ts';

export type Verb = 'list' | 'get' | 'create' | 'update' | 'delete' | 'restore';

/** Example command lines in the help of each command. */
const EXAMPLES: Readonly<Record<KindName, Readonly<Partial<Record<Verb, readonly string[]>>>>> = {
  event: {
    list: [
      "fasti event list --start_date=today --end_date='+1 week'",
      'fasti event list --status=draft --fields=id,title,author',
      'fasti event list --categories=music --format=ids',
      'fasti event list --format=csv > events.csv',
    ],
    get: [
      'fasti event get 42',
      'fasti event get summer-concert --field=start_date',
      'fasti event get 42 --fields=title,venue.city --format=json',
    ],
    create: [
      "fasti event create --title='Summer concert' --start_date='2030-07-20 21:00' --end_date='2030-07-20 23:30' --venue=7 --cost=12",
      'fasti event create --title=Fair --start_date=2030-08-15 --end_date=2030-08-16 --all_day --categories=markets,food --porcelain',
      `fasti event create --title=Reading --start_date='next friday 18:00' --end_date='next friday 19:00' --venue='{"venue":"Library","city":"Florence"}'`,
    ],
    update: [
      'fasti event update 42 --status=publish',
      'fasti event update 42 43 --no-featured',
      'fasti event update summer-concert --website=',
    ],
    delete: [
      'fasti event delete 42',
      'fasti event delete $(fasti event list --status=draft --format=ids)',
      'fasti event delete 42 --force',
    ],
    restore: ['fasti event restore 42', 'fasti event restore summer-concert'],
  },
  venue: {
    list: ['fasti venue list', 'fasti venue list --search=theatre --fields=id,venue,phone'],
    get: ['fasti venue get 7', 'fasti venue get town-theatre --format=json'],
    create: [
      "fasti venue create --venue='Town theatre' --address='Piazza Grande 1' --city=Arezzo --country=Italy --geo_lat=43.4663 --geo_lng=11.8829",
    ],
    update: ["fasti venue update 7 --phone='+39 0575 555 0100'"],
    delete: ['fasti venue delete 7'],
    restore: ['fasti venue restore 7'],
  },
  organizer: {
    list: ['fasti organizer list --format=csv', 'fasti organizer list --only_with_upcoming'],
    get: ['fasti organizer get 9 --field=email'],
    create: ["fasti organizer create --organizer='Music school' --email=info@example.org"],
    update: ['fasti organizer update 9 --website=https://example.org/'],
    delete: ['fasti organizer delete 9'],
    restore: ['fasti organizer restore 9'],
  },
  category: {
    list: ['fasti category list', 'fasti category list --parent=0 --format=json'],
    get: ['fasti category get music'],
    create: ['fasti category create --name=Music', 'fasti category create --name=Jazz --parent=3 --porcelain'],
    update: ["fasti category update jazz --description='From New Orleans to today'"],
    delete: ['fasti category delete jazz'],
  },
  tag: {
    list: ['fasti tag list --orderby=count --order=desc', 'fasti tag list --event=42 --field=name'],
    get: ['fasti tag get outdoors'],
    create: ['fasti tag create --name=Outdoors'],
    update: ["fasti tag update outdoors --name='In the open'"],
    delete: ['fasti tag delete outdoors'],
  },
};

/** Returns the examples in the help of a command about a kind. */
export const examplesOf = (kind: KindName, verb: Verb): readonly string[] => EXAMPLES[kind][verb] ?? [];

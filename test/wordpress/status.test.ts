import { describe, expect, it } from '@jest/globals';
import { type DateRequest, isFloating, isPrivate, isPublic, settleDates, settleStatus } from '../../src/wordpress/status.ts';
import { ZERO_DATE } from '../../src/wordpress/time.ts';

describe('settleStatus', () => {
  const may = { canPublish: true, canDelete: true };
  const mayNot = { canPublish: false, canDelete: true };
  it.each([
    ['a new post is published', may, {}, 'publish'],
    ["a contributor's new post is a draft", mayNot, {}, 'draft'],
    ['every settable status is taken', may, { requestedStatus: 'private' }, 'private'],
    ['publishing is lowered', mayNot, { requestedStatus: 'publish' }, 'pending'],
    ['scheduling is lowered', mayNot, { requestedStatus: 'future' }, 'pending'],
    ['privacy is lowered', mayNot, { requestedStatus: 'private' }, 'pending'],
    ['a draft may be asked for', mayNot, { requestedStatus: 'draft' }, 'draft'],
    ['the trash may be asked for', mayNot, { requestedStatus: 'trash' }, 'trash'],
    ['an update without status keeps it', may, { before: 'draft' }, 'draft'],
    ['an update without status keeps the trash', may, { before: 'trash' }, 'trash'],
    ['an update without status keeps what one may not give', mayNot, { before: 'publish' }, 'publish'],
    ['the same status may be asked for again', mayNot, { before: 'private', requestedStatus: 'private' }, 'private'],
    ['a draft is published', may, { before: 'draft', requestedStatus: 'publish' }, 'publish'],
    ["a contributor's draft is submitted", mayNot, { before: 'draft', requestedStatus: 'publish' }, 'pending'],
  ])('%s', (_, rights, request, status) =>
    expect(settleStatus({ ...rights, ...request })).toEqual({ status, isRequested: 'requestedStatus' in request }),
  );

  it.each(['inherit', 'auto-draft', 'tribe-ea-success', 'bogus', 'any', ''])('refuses the status %j', (requested) =>
    expect(settleStatus({ ...may, requestedStatus: requested })).toEqual({ problem: 'status-not-settable' }),
  );
  it('refuses the trash to users who may not delete', () =>
    expect(settleStatus({ canPublish: true, canDelete: false, requestedStatus: 'trash' })).toEqual({ problem: 'status-needs-delete' }));
});

describe('settleDates', () => {
  const now = { local: '2026-11-20 10:00:00', utc: '2026-11-20 09:00:00' };
  const shift = (hours: number) => (text: string) =>
    new Date(Date.parse(`${text.replace(' ', 'T')}Z`) + hours * 3_600_000).toISOString().slice(0, 19).replace('T', ' ');
  const settle = (request: Partial<DateRequest> & { status: string }) =>
    settleDates({ isRequested: false, now, toUtc: shift(-1), toLocal: shift(1), ...request });
  const published = { status: 'publish', date: '2022-01-13 09:00:00', dateUtc: '2022-01-13 08:00:00' };
  const draft = { status: 'draft', date: '2022-03-01 09:00:00', dateUtc: ZERO_DATE };
  const scheduled = { status: 'future', date: '2031-06-01 09:00:00', dateUtc: '2031-06-01 08:00:00' };
  const local = '2032-01-01 10:00:00';
  const utc = '2032-01-01 09:00:00';

  it.each<[string, Partial<DateRequest> & { status: string }, [string, string, string]]>([
    ['a new post is dated now', { status: 'publish' }, ['publish', now.local, now.utc]],
    ['a new draft has no date in UTC', { status: 'draft' }, ['draft', now.local, ZERO_DATE]],
    ['a new draft with a date has none in UTC either', { status: 'draft', date: local }, ['draft', local, ZERO_DATE]],
    ['a draft with a date in UTC keeps it', { status: 'draft', dateUtc: utc }, ['draft', local, utc]],
    ['a new post in the trash is dated now', { status: 'trash' }, ['trash', now.local, now.utc]],
    [
      'the local date gives the other',
      { status: 'publish', date: '2025-01-02 03:04:05' },
      ['publish', '2025-01-02 03:04:05', '2025-01-02 02:04:05'],
    ],
    [
      'the date in UTC gives the other',
      { status: 'publish', dateUtc: '2025-01-02 03:04:05' },
      ['publish', '2025-01-02 04:04:05', '2025-01-02 03:04:05'],
    ],
    [
      'two dates stand as they are',
      { status: 'publish', date: '2025-01-01 10:00:00', dateUtc: '2025-06-01 10:00:00' },
      ['publish', '2025-01-01 10:00:00', '2025-06-01 10:00:00'],
    ],
    ['a date ahead schedules', { status: 'publish', date: local }, ['future', local, utc]],
    [
      'less than a minute ahead does not',
      { status: 'publish', dateUtc: '2026-11-20 09:00:59' },
      ['publish', '2026-11-20 10:00:59', '2026-11-20 09:00:59'],
    ],
    ['scheduling without a date publishes', { status: 'future', isRequested: true }, ['publish', now.local, now.utc]],
    ['privacy is not scheduled', { status: 'private', date: local }, ['private', local, utc]],
    ['an update keeps the dates', { status: 'publish', before: published }, ['publish', published.date, published.dateUtc]],
    ['an update with a date ahead schedules', { status: 'publish', before: published, date: local }, ['future', local, utc]],
    [
      'a published one made draft keeps its dates',
      { status: 'draft', isRequested: true, before: published },
      ['draft', published.date, published.dateUtc],
    ],
    ['a draft stays as it is dated', { status: 'pending', isRequested: true, before: draft }, ['pending', draft.date, ZERO_DATE]],
    ['publishing a draft dates it now', { status: 'publish', isRequested: true, before: draft }, ['publish', now.local, now.utc]],
    ['making a draft private dates it now', { status: 'private', isRequested: true, before: draft }, ['private', now.local, now.utc]],
    ['trashing a draft dates it now', { status: 'trash', isRequested: true, before: draft }, ['trash', now.local, now.utc]],
    [
      'publishing a draft with a date of its own keeps it',
      { status: 'publish', isRequested: true, before: { ...draft, dateUtc: '2022-03-01 08:00:00' } },
      ['publish', draft.date, '2022-03-01 08:00:00'],
    ],
    [
      'publishing a draft for which a day ahead was set schedules it',
      { status: 'publish', isRequested: true, before: { ...draft, date: local } },
      ['future', local, utc],
    ],
    [
      'publishing a draft with a date takes the date',
      { status: 'publish', isRequested: true, before: draft, date: '2025-01-02 03:04:05' },
      ['publish', '2025-01-02 03:04:05', '2025-01-02 02:04:05'],
    ],
    ['a scheduled one stays scheduled', { status: 'future', before: scheduled }, ['future', scheduled.date, scheduled.dateUtc]],
    [
      'publishing a scheduled one publishes it now',
      { status: 'publish', isRequested: true, before: scheduled },
      ['publish', now.local, now.utc],
    ],
    [
      'a scheduled one moved into the past is published',
      { status: 'future', before: scheduled, date: published.date },
      ['publish', published.date, published.dateUtc],
    ],
    ...['publish', 'private', 'trash'].map((status): [string, Partial<DateRequest> & { status: string }, [string, string, string]] => [
      `a missing date in UTC follows from the local one: ${status}`,
      { status, before: { ...published, status, dateUtc: ZERO_DATE } },
      [status, published.date, published.dateUtc],
    ]),
    [
      'a published one without a date in UTC keeps its date in the trash',
      { status: 'trash', isRequested: true, before: { ...published, dateUtc: ZERO_DATE } },
      ['trash', published.date, published.dateUtc],
    ],
    [
      'what leaves the trash without a date in UTC keeps its date',
      { status: 'publish', isRequested: true, before: { ...published, status: 'trash', dateUtc: ZERO_DATE } },
      ['publish', published.date, published.dateUtc],
    ],
    [
      'a scheduled one without a date in UTC stays scheduled',
      { status: 'future', before: { ...scheduled, dateUtc: ZERO_DATE } },
      ['future', scheduled.date, scheduled.dateUtc],
    ],
    [
      'a published one without any date is dated now',
      { status: 'publish', before: { ...published, date: ZERO_DATE, dateUtc: ZERO_DATE } },
      ['publish', now.local, now.utc],
    ],
    [
      'what leaves the trash keeps its dates',
      { status: 'publish', isRequested: true, before: { ...published, status: 'trash' } },
      ['publish', published.date, published.dateUtc],
    ],
  ])('%s', (_, request, [status, post_date, post_date_gmt]) => expect(settle(request)).toMatchObject({ status, post_date, post_date_gmt }));

  it('sets the modification date of a new post to its date', () =>
    expect(settle({ status: 'publish', date: local })).toMatchObject({ post_modified: local, post_modified_gmt: utc }));
  it('leaves the modification date of a new draft without UTC', () =>
    expect(settle({ status: 'draft' })).toMatchObject({ post_modified: now.local, post_modified_gmt: ZERO_DATE }));
  it('sets the modification date of an updated post to now', () =>
    expect(settle({ status: 'draft', before: draft })).toMatchObject({ post_modified: now.local, post_modified_gmt: now.utc }));
  it.each([
    [true, { status: 'publish' }],
    [true, { status: 'publish', isRequested: true, before: draft }],
    [false, { status: 'publish', before: published }],
    [false, { status: 'publish', date: local }],
  ])('returns %s for publishedNow', (publishedNow, request) => expect(settle(request).publishedNow).toBe(publishedNow));
});

describe('statuses', () => {
  it.each([
    ['publish', 'public'],
    ['private', 'private'],
    ['future', 'neither'],
    ['draft', 'neither'],
    ['pending', 'neither'],
    ['trash', 'neither'],
    ['inherit', 'neither'],
  ])('classify %s as %s', (status, group) =>
    expect([isPublic(status), isPrivate(status)]).toEqual([group === 'public', group === 'private']),
  );
  it('have a floating date only if the post is a draft', () =>
    expect(['draft', 'pending', 'auto-draft', 'future', 'publish', 'trash'].map(isFloating)).toEqual([
      true,
      true,
      true,
      false,
      false,
      false,
    ]));
});

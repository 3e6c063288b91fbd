import { beforeAll, describe, expect, it } from '@jest/globals';
import { ApiError, type Fault } from '../../src/errors.ts';
import { problemReply, toApiError } from '../../src/http/problem.ts';
import { DatabaseUnavailable } from '../../src/storage/engine/database.ts';
import { loadTexts, type Texts } from '../../src/texts.ts';

let texts: Texts;
beforeAll(async () => {
  texts = await loadTexts(['en', 'it']);
});
const reply = (error: unknown, language = 'en') => problemReply(texts, language, toApiError(error), 'the-id');
const invalid = (...faults: [string, Fault][]) => new ApiError('rest_invalid_param', { faults: new Map(faults) });

describe('error body', () => {
  it('has a code, a message and a status among its data', () => {
    expect(reply(new ApiError('rest-event-not-found'))).toEqual({
      status: 404,
      body: { code: 'rest-event-not-found', message: texts.t('en', 'problems:rest-event-not-found'), data: { status: 404 } },
    });
  });

  it('names the parameters that are missing', () => {
    const { body } = reply(new ApiError('rest_missing_callback_param', { data: { params: ['title', 'start_date'] } }));
    expect(body).toMatchObject({
      message: expect.stringMatching(/title, start_date$/),
      data: { status: 400, params: ['title', 'start_date'] },
    });
  });

  it('has empty details for refused values without a type or enum', () => {
    const { body } = reply(invalid(['page', { stage: 'value' }]));
    expect(body).toMatchObject({ code: 'rest_invalid_param', message: expect.stringMatching(/page$/) });
    expect((body as { data: unknown }).data).toEqual({ status: 400, params: { page: texts.t('en', 'reasons:invalid') }, details: [] });
  });

  it('gives the reason of a refused value if there is one', () => {
    const { body } = reply(invalid(['end_date', { stage: 'value', reason: 'end-before-start' }]));
    expect(body).toMatchObject({ data: { params: { end_date: texts.t('en', 'reasons:end-before-start') } } });
  });

  it.each<[Fault, string, string, object | null]>([
    [{ stage: 'type', type: 'boolean' }, 'rest_invalid_type', 'all_day is not of type boolean.', { param: 'all_day' }],
    [{ stage: 'enum', values: ['en', 'it'] }, 'rest_not_in_enum', 'all_day is not one of en and it.', null],
  ])('has details for a parameter that violates its %j', (fault, code, message, data) => {
    const { body } = reply(invalid(['all_day', fault]));
    expect((body as { data: unknown }).data).toEqual({
      status: 400,
      params: { all_day: message },
      details: { all_day: { code, message, data } },
    });
  });

  it('contains the extra members of the error', () => {
    const { body } = reply(new ApiError('term_exists', { data: { term_id: 5 }, extraMembers: { additional_data: [5, 5] } }));
    expect(body).toMatchObject({ data: { status: 400, term_id: 5 }, additional_data: [5, 5] });
  });

  it('has the status of the error, such as 401, also in its data', () => {
    expect(reply(new ApiError('rest_forbidden', { status: 401 }))).toMatchObject({ status: 401, body: { data: { status: 401 } } });
  });

  it('has no data for rest_callback_invalid', () => {
    expect(Object.keys(reply(new ApiError('rest_callback_invalid')).body as object)).toEqual(['code', 'message']);
  });

  it('is in the language of the caller', () => {
    expect(reply(new ApiError('rest_forbidden'), 'it').body).toMatchObject({ message: texts.t('it', 'problems:rest_forbidden') });
  });
});

describe('internal error', () => {
  it('reveals only the id of the request', () => {
    const { status, body } = reply(new Error('SELECT secret FROM /var/lib'));
    expect(status).toBe(500);
    expect(body).toEqual({
      code: 'internal_server_error',
      message: texts.t('en', 'problems:internal_server_error'),
      data: { status: 500 },
      request_id: 'the-id',
    });
  });

  it.each([
    ['unreachable', 503, 'rest_database_unavailable'],
    ['busy', 503, 'rest_database_unavailable'],
    ['exhausted', 503, 'rest_database_unavailable'],
    ['full', 507, 'rest_insufficient_storage'],
  ] as const)('of a database that is %s has status %d', (reason, status, code) => {
    expect(reply(new DatabaseUnavailable(reason, new Error('at 10.0.0.1')))).toMatchObject({ status, body: { code, data: { status } } });
  });

  it('that is temporary has a Retry-After header', () => {
    expect(reply(new DatabaseUnavailable('busy')).headers).toEqual({ 'Retry-After': expect.stringMatching(/^\d+$/) });
    expect(reply(new ApiError('too-many-requests', { data: { retry_after: 90 } })).headers).toEqual({ 'Retry-After': '90' });
  });

  it.each(['translation-conflict', 'recurring-event-dates', 'not-in-trash', 'status-changed', 'write-uncertain'] as const)(
    'that is not temporary has none: %s',
    (problem) => {
      expect(reply(new ApiError(problem)).headers).toBeUndefined();
    },
  );

  it('tells clients to wait for a second for a request that is under way, and for a day if people have to act first', () => {
    expect(reply(new ApiError('request-under-way')).headers).toEqual({ 'Retry-After': '1' });
    expect(reply(new ApiError('suggestions-full')).headers).toEqual({ 'Retry-After': '86400' });
  });

  it('becomes 404 rest_no_route for a malformed URI', () => {
    expect(reply(Object.assign(new URIError('URI malformed'), { status: 400 }))).toMatchObject({
      status: 404,
      body: { code: 'rest_no_route' },
    });
  });
});

import { mayImportAnything } from '../exchange/import/rights.ts';
import { searchLinks } from '../forms/control-data.ts';
import { idIn, searchIn } from '../forms/form-values.ts';
import { postKind, postKinds, termKinds } from '../kinds/index.ts';
import { mayUpload } from '../media/images.ts';
import type { Viewer } from '../wordpress/viewer.ts';
import { authorizeByForm, authorizePage } from './authorize.tsx';
import { addDateByForm, datesPage, excludeDateByForm, moveDateByForm } from './event-dates.tsx';
import { backUpByForm, backupsPage, healthPage, repair } from './health-page.tsx';
import { importByForm, importPage, importProgressPage, undoByForm } from './import.tsx';
import { firstPageUrl } from './layout.tsx';
import { listPage } from './lists.tsx';
import { monthPage, moveEvent } from './month.tsx';
import { changeOwnPassword, chooseLanguage, createOwnPassword, ownAccountPage, revokeOwnPassword } from './own-account.tsx';
import { changeRole, invite, peoplePage, personPage, removePerson, revokePersonPassword, showNewLink } from './people.tsx';
import { emptyTrash, runOnOne, runOnSelected } from './record-actions.ts';
import { changeByForm, createByForm, duplicatePage, editRecordPage, newRecordPage } from './records.tsx';
import { saveSettings, settingsPage } from './settings-page.tsx';
import { signInByForm, signInPage, signOut, welcomeByForm, welcomePage } from './sign-in.tsx';
import { changeTermByForm, createTermByForm, removeTerm, termPage, termsPage } from './terms.tsx';
import { deskUrl, type FormOutcome, type Outcome, type Submission, type Visit } from './visit.ts';

/** The variable segments of a route's path: `id`, `uuid`. */
export type PathParams = Readonly<Record<string, string>>;

/** The users who may request a route at all; the functions that run it check what exactly they may do. */
type Allow = 'anyone' | 'signed-in' | ((viewer: Viewer) => boolean);

interface GetRoute {
  readonly method: 'GET';
  /** Whether it takes long, so that other requests must not wait for it. */
  readonly takesLong?: true;
  readonly run: (visit: Visit, params: PathParams) => Promise<Outcome>;
}

interface PostRoute {
  readonly method: 'POST';
  /** Whether its form may contain files. They may be long if this function returns true for the sender. */
  readonly files?: (viewer: Viewer) => boolean;
  /** Whether its form may contain the fields of another form. */
  readonly keeps?: true;
  /** Fields of its form that must not be shown again, such as passwords: they are neither kept nor displayed. */
  readonly secrets?: readonly string[];
  /** Whether its form is a button, with no input to keep: it is not sent again, since nobody would see what it does. */
  readonly isButton?: true;
  /** Whether it only ends the login: the answer is the same for a user who is not signed in any more. */
  readonly endsLogin?: true;
  readonly run: (visit: Submission, params: PathParams) => Promise<FormOutcome>;
}

/** A route of the desk. `path`: variable segments are written as `:name`. */
export type DeskRoute = (GetRoute | PostRoute) & { readonly path: string; readonly allow: Allow };

const hasCapability =
  (capability: string) =>
  ({ can: holds }: Viewer): boolean =>
    holds(capability);

const get = (path: string, allow: Allow, run: GetRoute['run']): DeskRoute => ({ method: 'GET', path, allow, run });
const post = (path: string, allow: Allow, run: PostRoute['run']): DeskRoute => ({ method: 'POST', path, allow, run });
const button = (path: string, allow: Allow, run: PostRoute['run']): DeskRoute => ({ method: 'POST', isButton: true, path, allow, run });
/** A form of a record, which may contain an image if its sender may upload one. */
const postRecordForm = (path: string, allow: Allow, run: PostRoute['run']): DeskRoute => ({
  method: 'POST',
  files: mayUpload,
  path,
  allow,
  run,
});
/** A form with fields that must not be shown again. */
const postWithSecrets = (path: string, allow: Allow, secrets: readonly string[], run: PostRoute['run']): DeskRoute => ({
  method: 'POST',
  secrets,
  path,
  allow,
  run,
});

const idOf = ({ id }: PathParams): number => idIn(id);

/** All routes of the desk. */
export const deskRoutes: readonly DeskRoute[] = [
  get('', 'signed-in', async (visit) => ({ to: firstPageUrl(visit) })),
  get('/sign-in', 'anyone', async (visit) => (visit.login ? { to: deskUrl(visit, '') } : { html: signInPage(visit) })),
  { method: 'POST', secrets: ['pwd'], keeps: true, path: '/sign-in', allow: 'anyone', run: signInByForm },
  { method: 'POST', isButton: true, endsLogin: true, path: '/sign-out', allow: 'signed-in', run: signOut },
  get('/welcome', 'anyone', welcomePage),
  postWithSecrets('/welcome', 'anyone', ['password', 'again'], welcomeByForm),
  ...postKinds.flatMap((kind): DeskRoute[] => {
    const path = `/${kind.path}`;
    const mayEdit = hasCapability(`edit_${kind.capabilities}`);
    const mayDelete = hasCapability(`delete_${kind.capabilities}`);
    return [
      get(path, mayEdit, (visit) => listPage(visit, kind)),
      get(`${path}/new`, mayEdit, (visit) => newRecordPage(visit, kind)),
      postRecordForm(`${path}/new`, mayEdit, (visit) => createByForm(visit, kind)),
      button(`${path}/bulk`, mayEdit, (visit) => runOnSelected(visit, kind)),
      button(`${path}/empty-trash`, mayDelete, (visit) => emptyTrash(visit, kind)),
      get(`${path}/:id`, mayEdit, (visit, params) => editRecordPage(visit, kind, idOf(params))),
      postRecordForm(`${path}/:id`, mayEdit, (visit, params) => changeByForm(visit, kind, idOf(params))),
      get(`${path}/:id/duplicate`, mayEdit, (visit, params) => duplicatePage(visit, kind, idOf(params))),
      button(`${path}/:id/publish`, hasCapability(`publish_${kind.capabilities}`), (visit, params) =>
        runOnOne(visit, kind, idOf(params), 'publish'),
      ),
      ...(['trash', 'restore', 'delete'] as const).map((action) =>
        button(`${path}/:id/${action}`, mayDelete, (visit, params) => runOnOne(visit, kind, idOf(params), action)),
      ),
    ];
  }),
  ...termKinds.flatMap((kind): DeskRoute[] => {
    const path = `/${kind.path}`;
    const mayManage = (viewer: Viewer) => kind.manage.every(viewer.can);
    return [
      get(path, mayManage, (visit) => termsPage(visit, kind)),
      post(path, mayManage, (visit) => createTermByForm(visit, kind)),
      get(`${path}/:id`, mayManage, (visit, params) => termPage(visit, kind, idOf(params))),
      post(`${path}/:id`, mayManage, (visit, params) => changeTermByForm(visit, kind, idOf(params))),
      button(`${path}/:id/delete`, mayManage, (visit, params) => removeTerm(visit, kind, idOf(params))),
    ];
  }),
  ...(['venue', 'organizer'] as const).map((name) =>
    get(`/find/${postKind(name).path}`, hasCapability('edit_tribe_events'), async (visit) => ({
      json: await searchLinks(visit, name, searchIn(visit.request.query, 'q')),
    })),
  ),
  get('/events/:id/dates', hasCapability('edit_tribe_events'), (visit, params) => datesPage(visit, idOf(params))),
  post('/events/:id/dates', hasCapability('edit_tribe_events'), (visit, params) => addDateByForm(visit, idOf(params))),
  button('/events/:id/dates/leave-out', hasCapability('edit_tribe_events'), (visit, params) => excludeDateByForm(visit, idOf(params))),
  post('/events/:id/dates/move', hasCapability('edit_tribe_events'), (visit, params) => moveDateByForm(visit, idOf(params))),
  get('/month', hasCapability('edit_tribe_events'), (visit) => monthPage(visit)),
  button('/month/move', hasCapability('edit_tribe_events'), moveEvent),
  get('/import', mayImportAnything, (visit) => importPage(visit)),
  { method: 'POST', files: mayImportAnything, path: '/import', allow: mayImportAnything, run: importByForm },
  get('/import/progress', mayImportAnything, (visit) => importProgressPage(visit)),
  button('/import/undo', mayImportAnything, undoByForm),
  get('/people', hasCapability('list_users'), (visit) => peoplePage(visit)),
  post('/people', hasCapability('create_users'), invite),
  get('/people/:id', hasCapability('list_users'), (visit, params) => personPage(visit, idOf(params))),
  post('/people/:id', hasCapability('promote_users'), (visit, params) => changeRole(visit, idOf(params))),
  button('/people/:id/link', hasCapability('edit_users'), (visit, params) => showNewLink(visit, idOf(params))),
  button('/people/:id/delete', hasCapability('delete_users'), (visit, params) => removePerson(visit, idOf(params))),
  button('/people/:id/passwords/:uuid/revoke', hasCapability('edit_users'), (visit, params) =>
    revokePersonPassword(visit, idOf(params), params.uuid ?? ''),
  ),
  get('/me', 'signed-in', (visit) => ownAccountPage(visit)),
  postWithSecrets('/me/password', 'signed-in', ['before', 'password', 'again'], changeOwnPassword),
  button('/me/language', 'signed-in', chooseLanguage),
  post('/me/passwords', 'signed-in', createOwnPassword),
  button('/me/passwords/:uuid/revoke', 'signed-in', (visit, params) => revokeOwnPassword(visit, params.uuid ?? '')),
  get('/authorize', 'signed-in', authorizePage),
  post('/authorize', 'signed-in', authorizeByForm),
  get('/settings', hasCapability('manage_options'), (visit) => settingsPage(visit)),
  post('/settings', hasCapability('manage_options'), saveSettings),
  { method: 'GET', takesLong: true, path: '/health', allow: hasCapability('manage_options'), run: (visit) => healthPage(visit) },
  get('/health/backups', hasCapability('manage_options'), backupsPage),
  button('/health/repair', hasCapability('manage_options'), repair),
  button('/health/backup', hasCapability('manage_options'), backUpByForm),
];

/** A route with the variable segments of the path that led to it. */
export interface RouteMatch {
  readonly route: DeskRoute;
  readonly params: PathParams;
}

/** Returns the route for a path. One with fewer variable segments takes precedence. */
export function findRoute(method: string, path: string): RouteMatch | undefined {
  const segments = path.replace(/\/$/, '').split('/');
  const matches = deskRoutes.flatMap((route): RouteMatch[] => {
    if (route.method !== method) return [];
    const pattern = route.path.split('/');
    if (pattern.length !== segments.length) return [];
    const params: Record<string, string> = {};
    for (const [index, patternSegment] of pattern.entries()) {
      const segment = segments[index]!;
      if (patternSegment.startsWith(':')) params[patternSegment.slice(1)] = segment;
      else if (patternSegment !== segment) return [];
    }
    return [{ route, params }];
  });
  return matches.sort((one, other) => Object.keys(one.params).length - Object.keys(other.params).length)[0];
}

/** Returns the path of the page that contains a form: its own path, or the nearest one above. */
export function formPagePath(path: string): string {
  const match = findRoute('GET', path);
  // `/events/bulk` is no page of a record.
  const isPage = match && Object.values(match.params).every((piece) => idIn(piece) > 0);
  return path === '' || isPage ? path : formPagePath(path.slice(0, path.lastIndexOf('/')));
}

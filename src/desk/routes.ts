import { foundLinks } from '../forms/control-data.ts';
import { idIn, textIn } from '../forms/form-values.ts';
import { postKind, postKinds, termKinds } from '../kinds/index.ts';
import { mayUpload } from '../media/images.ts';
import type { Viewer } from '../wordpress/viewer.ts';
import { authorizeByForm, authorizePage } from './authorize.tsx';
import { addDateByForm, datesPage, leaveOutByForm, moveDateByForm } from './event-dates.tsx';
import { backUpByForm, backupsPage, healthPage, repair } from './health-page.tsx';
import { importByForm, importPage, importProgressPage, undoByForm } from './import.tsx';
import { firstPage } from './layout.tsx';
import { listPage } from './lists.tsx';
import { monthPage, moveEvent } from './month.tsx';
import { changeOwnPassword, chooseLanguage, makeOwnPassword, ownPage, revokeOwn } from './own-account.tsx';
import { changeRole, invite, newLink, peoplePage, personPage, removePerson, revokeOf } from './people.tsx';
import { actOnOne, actOnSelected, emptyTrash } from './record-actions.ts';
import { changeByForm, createByForm, duplicatePage, editRecordPage, newRecordPage } from './records.tsx';
import { saveSettings, settingsPage } from './settings-page.tsx';
import { signInByForm, signInPage, signOut, welcomeByForm, welcomePage } from './sign-in.tsx';
import { changeTermByForm, createTermByForm, removeTerm, termPage, termsPage } from './terms.tsx';
import { deskUrl, type Outcome, type Submission, type Visit } from './visit.ts';

/** The variable segments of a route's path: `id`, `uuid`. */
export type PathParams = Readonly<Record<string, string>>;

/** The users who may request a route at all; the functions that run it check what exactly they may do. */
type Allow = 'anyone' | 'signed-in' | ((viewer: Viewer) => boolean);

interface Reading {
  readonly method: 'GET';
  readonly run: (visit: Visit, pieces: PathParams) => Promise<Outcome>;
}

interface Changing {
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
  readonly run: (visit: Submission, pieces: PathParams) => Promise<Outcome>;
}

/** A route of the desk. `path`: variable segments are written as `:name`. */
export type DeskRoute = (Reading | Changing) & { readonly path: string; readonly allow: Allow };

const can =
  (capability: string) =>
  ({ can: holds }: Viewer): boolean =>
    holds(capability);

const get = (path: string, allow: Allow, run: Reading['run']): DeskRoute => ({ method: 'GET', path, allow, run });
const post = (path: string, allow: Allow, run: Changing['run']): DeskRoute => ({ method: 'POST', path, allow, run });
const button = (path: string, allow: Allow, run: Changing['run']): DeskRoute => ({ method: 'POST', isButton: true, path, allow, run });
/** A form of a record, which may contain an image if its sender may upload one. */
const recordForm = (path: string, allow: Allow, run: Changing['run']): DeskRoute => ({
  method: 'POST',
  files: mayUpload,
  path,
  allow,
  run,
});
/** A form with fields that must not be shown again. */
const secret = (path: string, allow: Allow, secrets: readonly string[], run: Changing['run']): DeskRoute => ({
  method: 'POST',
  secrets,
  path,
  allow,
  run,
});

const idOf = ({ id }: PathParams): number => idIn(id);

/** All routes of the desk. */
export const deskRoutes: readonly DeskRoute[] = [
  get('', 'signed-in', async (visit) => ({ to: firstPage(visit) })),
  get('/sign-in', 'anyone', async (visit) => (visit.login ? { to: deskUrl(visit, '') } : { html: signInPage(visit) })),
  { method: 'POST', secrets: ['pwd'], keeps: true, path: '/sign-in', allow: 'anyone', run: signInByForm },
  { method: 'POST', isButton: true, endsLogin: true, path: '/sign-out', allow: 'signed-in', run: signOut },
  get('/welcome', 'anyone', (visit) => welcomePage(visit)),
  secret('/welcome', 'anyone', ['password', 'again'], welcomeByForm),
  ...postKinds.flatMap((kind): DeskRoute[] => {
    const path = `/${kind.path}`;
    const edits = can(`edit_${kind.capabilities}`);
    const deletes = can(`delete_${kind.capabilities}`);
    return [
      get(path, edits, (visit) => listPage(visit, kind)),
      get(`${path}/new`, edits, (visit) => newRecordPage(visit, kind)),
      recordForm(`${path}/new`, edits, (visit) => createByForm(visit, kind)),
      button(`${path}/bulk`, edits, (visit) => actOnSelected(visit, kind)),
      button(`${path}/empty-trash`, deletes, (visit) => emptyTrash(visit, kind)),
      get(`${path}/:id`, edits, (visit, pieces) => editRecordPage(visit, kind, idOf(pieces))),
      recordForm(`${path}/:id`, edits, (visit, pieces) => changeByForm(visit, kind, idOf(pieces))),
      get(`${path}/:id/duplicate`, edits, (visit, pieces) => duplicatePage(visit, kind, idOf(pieces))),
      button(`${path}/:id/publish`, can(`publish_${kind.capabilities}`), (visit, pieces) => actOnOne(visit, kind, idOf(pieces), 'publish')),
      ...(['trash', 'restore', 'delete'] as const).map((action) =>
        button(`${path}/:id/${action}`, deletes, (visit, pieces) => actOnOne(visit, kind, idOf(pieces), action)),
      ),
    ];
  }),
  ...termKinds.flatMap((kind): DeskRoute[] => {
    const path = `/${kind.path}`;
    const manages = (viewer: Viewer) => kind.manage.every(viewer.can);
    return [
      get(path, manages, (visit) => termsPage(visit, kind)),
      post(path, manages, (visit) => createTermByForm(visit, kind)),
      get(`${path}/:id`, manages, (visit, pieces) => termPage(visit, kind, idOf(pieces))),
      post(`${path}/:id`, manages, (visit, pieces) => changeTermByForm(visit, kind, idOf(pieces))),
      button(`${path}/:id/delete`, manages, (visit, pieces) => removeTerm(visit, kind, idOf(pieces))),
    ];
  }),
  ...(['venue', 'organizer'] as const).map((name) =>
    get(`/find/${postKind(name).path}`, can('edit_tribe_events'), async (visit) => ({
      json: await foundLinks(visit, name, textIn(visit.request.query, 'q').trim()),
    })),
  ),
  get('/events/:id/dates', can('edit_tribe_events'), (visit, pieces) => datesPage(visit, idOf(pieces))),
  post('/events/:id/dates', can('edit_tribe_events'), (visit, pieces) => addDateByForm(visit, idOf(pieces))),
  button('/events/:id/dates/leave-out', can('edit_tribe_events'), (visit, pieces) => leaveOutByForm(visit, idOf(pieces))),
  post('/events/:id/dates/move', can('edit_tribe_events'), (visit, pieces) => moveDateByForm(visit, idOf(pieces))),
  get('/month', can('edit_tribe_events'), (visit) => monthPage(visit)),
  button('/month/move', can('edit_tribe_events'), moveEvent),
  get('/import', can('import'), (visit) => importPage(visit)),
  { method: 'POST', files: can('import'), path: '/import', allow: can('import'), run: importByForm },
  get('/import/progress', can('import'), (visit) => importProgressPage(visit)),
  button('/import/undo', can('import'), undoByForm),
  get('/people', can('list_users'), (visit) => peoplePage(visit)),
  post('/people', can('create_users'), invite),
  get('/people/:id', can('list_users'), (visit, pieces) => personPage(visit, idOf(pieces))),
  post('/people/:id', can('promote_users'), (visit, pieces) => changeRole(visit, idOf(pieces))),
  button('/people/:id/link', can('edit_users'), (visit, pieces) => newLink(visit, idOf(pieces))),
  button('/people/:id/delete', can('delete_users'), (visit, pieces) => removePerson(visit, idOf(pieces))),
  button('/people/:id/passwords/:uuid/revoke', can('edit_users'), (visit, pieces) => revokeOf(visit, idOf(pieces), pieces.uuid ?? '')),
  get('/me', 'signed-in', (visit) => ownPage(visit)),
  secret('/me/password', 'signed-in', ['before', 'password', 'again'], changeOwnPassword),
  button('/me/language', 'signed-in', chooseLanguage),
  post('/me/passwords', 'signed-in', makeOwnPassword),
  button('/me/passwords/:uuid/revoke', 'signed-in', (visit, pieces) => revokeOwn(visit, pieces.uuid ?? '')),
  get('/authorize', 'signed-in', authorizePage),
  post('/authorize', 'signed-in', authorizeByForm),
  get('/settings', can('manage_options'), (visit) => settingsPage(visit)),
  post('/settings', can('manage_options'), saveSettings),
  get('/health', can('manage_options'), (visit) => healthPage(visit)),
  get('/health/backups', can('manage_options'), backupsPage),
  button('/health/repair', can('manage_options'), repair),
  button('/health/backup', can('manage_options'), backUpByForm),
];

/** A route with the variable segments of the path that led to it. */
export interface FoundRoute {
  readonly route: DeskRoute;
  readonly pieces: PathParams;
}

/** Returns the route for a path. One with fewer variable segments takes precedence. */
export function findRoute(method: string, path: string): FoundRoute | undefined {
  const given = path.replace(/\/$/, '').split('/');
  const found = deskRoutes.flatMap((route): FoundRoute[] => {
    if (route.method !== method) return [];
    const wanted = route.path.split('/');
    if (wanted.length !== given.length) return [];
    const pieces: Record<string, string> = {};
    for (const [place, piece] of wanted.entries()) {
      const own = given[place]!;
      if (piece.startsWith(':')) pieces[piece.slice(1)] = own;
      else if (piece !== own) return [];
    }
    return [{ route, pieces }];
  });
  return found.sort((one, other) => Object.keys(one.pieces).length - Object.keys(other.pieces).length)[0];
}

/** Returns the path of the page that contains a form: its own path, or the nearest one above. */
export function pageOf(path: string): string {
  const found = findRoute('GET', path);
  // `/events/bulk` is no page of a record.
  const isPage = found && Object.values(found.pieces).every((piece) => idIn(piece) > 0);
  return path === '' || isPage ? path : pageOf(path.slice(0, path.lastIndexOf('/')));
}

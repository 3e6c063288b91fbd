import type { JSX } from 'preact';
import type { ApplicationPassword } from '../accounts/application-passwords.ts';
import { ButtonForm } from './layout.tsx';
import { dayOfMoment } from './moments.ts';
import type { Visit } from './visit.ts';

/**
 * The application passwords of a person, each with a button that revokes it. `path`: path of the forms that revoke one.
 */
export function ApplicationPasswords({
  visit,
  passwords,
  path,
}: {
  readonly visit: Visit;
  readonly passwords: readonly ApplicationPassword[];
  readonly path: string;
}): JSX.Element {
  const { say } = visit.i18n;
  return (
    <>
      <h2>{say('desk:me.passwords')}</h2>
      <p class="quiet">{say('desk:me.passwords-about')}</p>
      {passwords.length > 0 && (
        <table class="list">
          <thead>
            <tr>
              <th scope="col">{say('desk:people.name')}</th>
              <th scope="col">{say('desk:me.created')}</th>
              <th scope="col">{say('desk:me.used')}</th>
              <td />
            </tr>
          </thead>
          <tbody>
            {passwords.map(({ uuid, name, created, lastUsed, lastAddress }) => (
              <tr key={uuid}>
                <th scope="row">{name}</th>
                <td data-label={say('desk:me.created')}>{dayOfMoment(visit, created)}</td>
                <td data-label={say('desk:me.used')}>
                  {lastUsed === undefined ? say('desk:me.never') : [dayOfMoment(visit, lastUsed), lastAddress].filter(Boolean).join(', ')}
                </td>
                <td>
                  <ButtonForm
                    visit={visit}
                    path={`${path}/${uuid}/revoke`}
                    text={say('desk:me.revoke')}
                    label={`${say('desk:me.revoke')}: ${name}`}
                  />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </>
  );
}

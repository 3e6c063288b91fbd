import { textIn } from '../forms/form-values.ts';
import { version } from '../host/version.ts';
import { Input } from '../html/form-fields.tsx';
import type { Values } from '../kinds/kind.ts';
import { examine, type Finding } from '../upkeep/doctor.ts';
import { SITE_OPTIONS, setSiteOption, siteOption } from '../upkeep/site-options.ts';
import { ButtonForm, deskPage, Nonce } from './layout.tsx';
import { at, type Outcome, type Visit, type Writing } from './visit.ts';

/*
 * The settings of the site, and whether it is sound.
 */

/** All options of the site. `wrong`: those whose values could not be used. */
export async function settingsPage(visit: Visit, typed: Values = {}, wrong: readonly string[] = []): Promise<Outcome> {
  const { say } = visit.speech;
  const html = deskPage(visit, {
    title: say('desk:parts.settings'),
    part: 'settings',
    notice: wrong.length === 0 ? undefined : { tone: 'wrong', text: say('desk:form.wrong') },
    children: (
      <form method="post" action={at(visit, '/settings')} class="narrow">
        <Nonce nonce={visit.nonce} />
        {SITE_OPTIONS.map((name) => (
          <Input
            key={name}
            name={name}
            label={say(`cli:option.names.${name}`)}
            value={name in typed ? textIn(typed, name) : siteOption(visit.settings, name)}
            error={wrong.includes(name) ? say('desk:settings.allowed', { allowed: say(`cli:option.allowed.${name}`) }) : undefined}
          />
        ))}
        <button type="submit" class="button-main">
          {say('desk:form.save')}
        </button>
      </form>
    ),
  });
  return { html, ...(wrong.length > 0 ? { status: 422 } : {}) };
}

/** Sets the options that were changed. */
export async function saveSettings(visit: Writing): Promise<Outcome> {
  const { site, settings, fields } = visit;
  const wrong: string[] = [];
  for (const name of SITE_OPTIONS) {
    const value = textIn(fields, name).trim();
    if (name in fields && value !== siteOption(settings, name) && !(await setSiteOption(site, name, value))) wrong.push(name);
  }
  return wrong.length > 0 ? settingsPage(visit, fields, wrong) : { to: at(visit, '/settings', { done: 'settings' }) };
}

/** What the doctor finds. */
export async function healthPage(visit: Visit): Promise<Outcome> {
  const { say } = visit.speech;
  const { versions, findings } = await examine(visit.site, version());
  const html = deskPage(visit, {
    title: say('desk:parts.health'),
    part: 'health',
    children: (
      <>
        <dl class="versions">
          {Object.entries(versions).map(([name, value]) => (
            <div key={name}>
              <dt>{say(`desk:health.${name}`)}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
        {findings.length === 0 && <p class="notice notice-good">{say('upkeep:doctor.healthy')}</p>}
        <ul class="findings">
          {findings.map((finding) => (
            <li key={finding.name}>
              <strong>{say(`upkeep:doctor.${finding.severity}`)}</strong> {say(`upkeep:findings.${finding.name}`)} ({finding.count})
              {finding.examples.length > 0 && <p class="quiet">{finding.examples.join(' · ')}</p>}
            </li>
          ))}
        </ul>
        {findings.some(isFixable) && (
          <ButtonForm visit={visit} path="/health/repair" text={say('desk:health.repair')} danger={say('desk:health.sure')} />
        )}
      </>
    ),
  });
  return { html };
}

const isFixable = ({ fix }: Finding): boolean => fix !== undefined;

/** Repairs whatever can be repaired without a choice. */
export async function repair(visit: Visit): Promise<Outcome> {
  const { findings } = await examine(visit.site, version());
  for (const { fix } of findings) await fix?.();
  return { to: at(visit, '/health', { done: 'repaired' }) };
}

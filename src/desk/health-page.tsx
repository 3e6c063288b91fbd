import { setTimeout as sleep } from 'node:timers/promises';
import type { JSX } from 'preact';
import { hourCycleOf } from '../calendar/hour-cycle.ts';
import { version } from '../host/version.ts';
import { dayInWords, timeInWords } from '../html/dates.ts';
import { sizeInWords } from '../html/size-words.ts';
import { backUpNow, listBackups, type StoredBackup, type StoredBackups } from '../upkeep/backup-folder.ts';
import { findDamageInThread, skipDamageCheck } from '../upkeep/doctor/damage.ts';
import { examplesInWords } from '../upkeep/doctor/findings.ts';
import { examine } from '../upkeep/doctor.ts';
import { failedRepair, isFixable, repairInRounds } from '../upkeep/repair.ts';
import { localFromDate } from '../wordpress/zones.ts';
import { ButtonForm, deskPage } from './layout.tsx';
import { deskUrl, type Outcome, type Submission, type Visit } from './visit.ts';

/*
 * State of the site, and its backups.
 */

/** Returns the page with the findings of the doctor. */
export async function healthPage(visit: Visit, errorMessage?: string): Promise<Outcome> {
  const { say } = visit.i18n;
  const { versions, findings } = await examine(visit.site, version(), findDamageInThread);
  const storedBackups = await listBackups(visit.site);
  const html = deskPage(visit, {
    title: say('desk:parts.health'),
    section: 'health',
    ...(errorMessage === undefined ? {} : { notice: { tone: 'wrong', text: errorMessage } }),
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
              <Examples texts={examplesInWords(finding, say)} />
              {!isFixable(finding) && <p>{say(`upkeep:advice.${finding.name}`)}</p>}
            </li>
          ))}
        </ul>
        {findings.some(isFixable) && (
          <ButtonForm visit={visit} path="/health/repair" text={say('desk:health.repair')} danger={say('desk:health.sure')} />
        )}
        <Backups visit={visit} storedBackups={storedBackups} />
      </>
    ),
  });
  return { html, ...(errorMessage === undefined ? {} : { status: 500 }) };
}

const Examples = ({ texts }: { readonly texts: readonly string[] }): JSX.Element | null =>
  texts.length === 0 ? null : <p class="quiet">{texts.join(' · ')}</p>;

/** Number of rounds of repairs in one request, whose answer a proxy does not wait for without limit. */
const REPAIR_ROUNDS = 2;

/** Repairs all findings that can be repaired without a choice. The page names those whose repair failed. */
export async function repair(visit: Visit): Promise<Outcome> {
  const { site, i18n } = visit;
  const examineAgain = () => examine(site, version(), skipDamageCheck);
  const { failed } = await repairInRounds(await examineAgain(), {
    examineAgain,
    rounds: REPAIR_ROUNDS,
    onTried: (finding, error) => {
      if (error !== undefined) site.log.error({ err: error, finding: finding.name }, 'a repair failed');
    },
  });
  if (failed.size > 0) return healthPage(visit, Array.from(failed, ([finding, error]) => failedRepair(finding, error, i18n.say)).join(' '));
  return { to: deskUrl(visit, '/health', { done: 'repaired' }) };
}

// ------------------------------------------------------------------------------------------------- backups
/** Maximum number of backups in the list. */
const MAX_BACKUPS_LISTED = 5;
/** Number of days after which an old last backup leads to a warning. */
const BACKUP_OVERDUE_DAYS = 8;
/** Time to wait for a backup. One that takes longer continues in the background, and the page says so. */
const BACKUP_WAIT_MS = 2000;

/** Returns the page with the backups alone. While a backup is running, the other page reloads it repeatedly. */
export async function backupsPage(visit: Visit): Promise<Outcome> {
  const storedBackups = await listBackups(visit.site);
  const html = deskPage(visit, {
    title: visit.i18n.say('desk:parts.health'),
    section: 'health',
    children: <Backups visit={visit} storedBackups={storedBackups} />,
  });
  return { html };
}

function Backups({
  visit,
  storedBackups: { backups, isRunning },
}: {
  readonly visit: Visit;
  readonly storedBackups: StoredBackups;
}): JSX.Element {
  const { say } = visit.i18n;
  const days = Math.floor((visit.site.clock().getTime() - (backups[0]?.madeAt.getTime() ?? 0)) / DAY_MS);
  return (
    <section aria-labelledby="backups" data-refresh={isRunning ? deskUrl(visit, '/health/backups') : undefined}>
      <h2 id="backups">{say('desk:backups.title')}</h2>
      {backups.length === 0 && <p class="notice notice-wrong">{say('desk:backups.none')}</p>}
      {backups.length > 0 && days >= BACKUP_OVERDUE_DAYS && <p class="notice notice-wrong">{say('desk:backups.late', { count: days })}</p>}
      {backups.length > 0 && (
        <ul class="backups">
          {backups.slice(0, MAX_BACKUPS_LISTED).map((backup) => (
            <li key={backup.file}>
              {say(backup.madeBy === undefined ? 'desk:backups.one' : 'desk:backups.one-by', { ...backupDetails(visit, backup) })}
              <div class="quiet">{backup.file}</div>
            </li>
          ))}
        </ul>
      )}
      <p class="quiet">{say('desk:backups.about', { folder: visit.site.config.backupsDir })}</p>
      {isRunning ? (
        <p role="status">{say('desk:backups.going')}</p>
      ) : (
        <ButtonForm visit={visit} path="/health/backup" text={say('desk:backups.make')} />
      )}
    </section>
  );
}

const DAY_MS = 86_400_000;

/** Returns the date of a backup in the site's local time, its size, and the user who made it. */
function backupDetails({ i18n, settings }: Visit, { madeAt, bytes, madeBy = '' }: StoredBackup) {
  const moment = localFromDate(madeAt, settings.zone);
  return {
    day: dayInWords(i18n, moment, 'long'),
    time: timeInWords(i18n, moment, hourCycleOf(settings.calendar.formats.time)),
    size: sizeInWords(i18n, bytes),
    by: madeBy,
  };
}

/** Starts a backup unless one is running. If it takes long, it continues in the background. */
export async function backUpByForm(visit: Submission): Promise<Outcome> {
  const { site, login, i18n } = visit;
  if ((await listBackups(site)).isRunning) return { to: deskUrl(visit, '/health') };
  const runningBackup = backUpNow(site, login?.user.row.user_login ?? '').then(
    () => 'made' as const,
    (error: unknown) => {
      site.log.error({ err: error }, 'a backup could not be made');
      return 'failed' as const;
    },
  );
  const result = await Promise.race([runningBackup, sleep(BACKUP_WAIT_MS, undefined, { ref: false })]);
  if (result === 'failed') return healthPage(visit, i18n.say('desk:backups.failed'));
  return { to: deskUrl(visit, '/health', { done: result === 'made' ? 'backup' : undefined }) };
}

import { access, constants, stat } from 'node:fs/promises';
import { join, normalize } from 'node:path';
import { firstAdministrator } from '../../accounts/users.ts';
import type { Config } from '../../config/config.ts';
import { settings } from '../../config/settings.ts';
import type { Site } from '../../site.ts';
import { attachedFiles } from '../../storage/audit/audit.ts';
import { typedEntries } from '../../typed-keys.ts';
import { siteAddress } from '../../wordpress/site-address.ts';
import { trimEndOf } from '../../wordpress/trim.ts';
import { parseZone } from '../../wordpress/zones.ts';
import { slugsOfLanguages } from '../site-options.ts';
import { type Finding, finding } from './findings.ts';

/** Returns findings about options, roles and addresses of the site. */
export async function settingFindings(site: Site): Promise<Finding[]> {
  const siteSettings = await site.settings();
  const { raw, timezoneString, roles, network } = siteSettings;
  const rolesOption = `${site.db.prefix}user_roles` as const;
  const absentNames = (['home', 'siteurl', rolesOption] as const).filter((name) => !raw.get(name));
  const administrator = await firstAdministrator(site);
  const home = trimEndOf(raw.get('home') ?? '', '/');
  const addresses = (['home', 'siteurl', 'upload_url_path'] as const).filter((name) => {
    const value = raw.get(name) ?? '';
    // `upload_url_path` may be a path.
    return value !== '' && siteAddress(value) !== trimEndOf(value, '/') && !(name === 'upload_url_path' && /^\/[^/]/.test(value));
  });
  return [
    ...finding('settings-missing', 'error', absentNames),
    ...finding(
      'address-unusable',
      'error',
      addresses.map((name) => `${name} ${raw.get(name)}`),
    ),
    ...finding('roles-unreadable', 'error', absentNames.includes(rolesOption) || roles.size > 0 ? [] : [rolesOption]),
    ...finding('site-closed', 'warning', network && network.siteState !== 'open' ? [network.siteState] : []),
    ...finding('slugs-of-languages', 'error', slugsOfLanguages(site, siteSettings)),
    ...finding('zone-of-site', 'error', timezoneString !== '' && !parseZone(timezoneString) ? [timezoneString] : []),
    // Without roles there can be no administrator, and none can be created.
    ...finding('no-administrator', 'warning', administrator || roles.size === 0 ? [] : ['']),
    ...finding('keys-short', 'note', shortKeys(site.config)),
    ...finding(
      'address-differs',
      'warning',
      siteAddress(home) === home && home !== siteSettings.home ? [`${home} / ${siteSettings.home}`] : [],
    ),
  ];
}

/** Length of the keys and salts that WordPress makes (`wp_generate_password` in `setup-config.php`). */
const KEY_LENGTH = 64;

/** Returns the settings of keys that are shorter: without quotes, `#` cuts them in a file of settings. */
const shortKeys = ({ keys }: Pick<Config, 'keys'>): string[] =>
  keys === undefined ? [] : typedEntries(keys).flatMap(([name, key]) => (key.length < KEY_LENGTH ? [settings[name].env] : []));

/** Returns findings about the uploads folder, and about attachments whose file is missing or outside of it. */
export async function fileFindings({ db, config }: Site): Promise<Finding[]> {
  const folder = await stat(config.uploadsDir).catch(() => undefined);
  const [missingFiles, strayFiles]: [string[], string[]] = [[], []];
  for await (const { id, file } of attachedFiles(db)) {
    const relativePath = normalize(file);
    if (file === '' || /^https?:/i.test(file)) continue;
    if (relativePath.startsWith('..') || relativePath.startsWith('/')) strayFiles.push(`${id} ${file}`);
    else if (folder) await access(join(config.uploadsDir, relativePath), constants.R_OK).catch(() => missingFiles.push(`${id} ${file}`));
  }
  const isWritable = folder?.isDirectory()
    ? await access(config.uploadsDir, constants.W_OK).then(
        () => true,
        () => false,
      )
    : true;
  return [
    ...finding('uploads-missing', 'warning', folder?.isDirectory() ? [] : [config.uploadsDir]),
    ...finding('uploads-locked', 'warning', isWritable ? [] : [config.uploadsDir]),
    ...finding('files-unreadable', 'warning', missingFiles),
    ...finding('files-astray', 'error', strayFiles),
  ];
}

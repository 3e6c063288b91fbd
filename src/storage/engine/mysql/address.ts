import { SettingError } from '../../../host/setting-error.ts';
import { percentDecoded } from '../../../wordpress/web-url.ts';

/** One server of an address, with options for the driver. `name`: for people and logs, without user and password. */
export interface MysqlServer {
  readonly name: string;
  readonly options: {
    readonly user: string;
    readonly password: string;
    readonly database: string;
    readonly host?: string;
    readonly port?: number;
    readonly socketPath?: string;
    readonly ssl?: object;
  };
}

/** `mysql://`, user and password up to the last `@`, hosts, and the rest. */
const ADDRESS = /^mysql:\/\/(?<user>[^/?#]*@)?(?<hosts>[^/?#@]*)(?<rest>.*)$/s;
/** The parameters of an address and their values. */
const PARAMETERS: ReadonlyMap<string, RegExp> = new Map([
  ['socketPath', /^./],
  ['ssl', /^(?:true|false)$/],
]);
const FORM = 'mysql://user:password@host:port/name';

/**
 * Returns the servers that an address names, in its order: `mysql://user:password@a:3306,b:3306/name?ssl=true`, or a
 * single one with `?socketPath=`. User, password, database and parameters are the same for all servers.
 *
 * @throws SettingError about what is wrong, without the password
 */
export function mysqlServers(address: string): readonly [MysqlServer, ...MysqlServer[]] {
  const [first, ...others] = addressesOf(address).map(serverAt);
  if (!first || !others.every((server) => server !== undefined)) throw new SettingError('address-form', { form: FORM });
  const servers = [first, ...others] as const;
  if (others.length > 0 && first.options.socketPath !== undefined) throw new SettingError('address-socket');
  const duplicate = servers.find(({ name }, index) => servers.findIndex((other) => other.name === name) < index);
  if (duplicate) throw new SettingError('address-twice', { server: duplicate.name });
  return servers;
}

/** Splits an address with several hosts into one address for each server. */
export function addressesOf(address: string): string[] {
  const { user = '', hosts = '', rest = '' } = ADDRESS.exec(address)?.groups ?? {};
  const names = hosts.split(',');
  // An address without any host means this machine, but an empty item between commas is a mistake.
  return names.map((host) => (names.length > 1 && host === '' ? '' : `mysql://${user}${host}${rest}`));
}

/** Parses the address of one server. Undefined if it has another form. */
function serverAt(address: string): MysqlServer | undefined {
  if (!URL.canParse(address)) return undefined;
  const url = new URL(address);
  // An `@` here means that the password contains a `/` or a `?`: all parts of it that follow would be taken for others.
  if (`${url.pathname}${[...url.searchParams.keys()]}`.includes('@')) return undefined;
  const database = percentDecoded(url.pathname.slice(1));
  if (database === '' || database.includes('/')) throw new SettingError('address-without-name', { form: FORM });
  refuseParameters(url.searchParams);
  const socketPath = url.searchParams.get('socketPath');
  // Brackets are part of the URL only; the driver expects an IPv6 address without them.
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1') || '127.0.0.1';
  const port = Number(url.port || 3306);
  return {
    name: socketPath ?? `${url.hostname || host}:${port}`,
    options: {
      user: percentDecoded(url.username),
      password: percentDecoded(url.password),
      database,
      ...(socketPath === null ? { host, port } : { socketPath }),
      ...(url.searchParams.get('ssl') === 'true' ? { ssl: {} } : {}),
    },
  };
}

/** Throws SettingError about a parameter that is not known, is given twice or has a value that cannot be used. */
function refuseParameters(params: URLSearchParams): void {
  const names = [...params.keys()];
  const unknown = names.filter((name) => !PARAMETERS.has(name));
  if (unknown.length > 0) throw new SettingError('address-parameter', { parameters: unknown.join(', ') });
  const unusable = names.find((name) => {
    const values = params.getAll(name);
    return values.length > 1 || !PARAMETERS.get(name)?.test(values[0] ?? '');
  });
  if (unusable !== undefined) throw new SettingError('address-value', { parameter: unusable });
}

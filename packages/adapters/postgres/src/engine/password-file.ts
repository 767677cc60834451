import { readFile, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** Connection for which a password is needed. */
export interface PasswordRequest {
  /** Name, or the folder of a socket. */
  readonly host: string;
  readonly port: number;
  readonly database?: string | undefined;
  readonly user?: string | undefined;
}

/** Permissions of the group and of others. */
const SHARED = 0o077;
/** Four fields and the password; a backslash escapes a colon or a backslash. */
const LINE = /^((?:\\.|[^:\\])*):((?:\\.|[^:\\])*):((?:\\.|[^:\\])*):((?:\\.|[^:\\])*):(.*)$/;

/**
 * Returns the password from the file `PGPASSFILE` or `~/.pgpass` in the format of libpq. Reads the file each time,
 * since passwords change while a server runs.
 * @throws Error if `PGPASSFILE` does not exist, other users can read the file, or no line matches
 */
export async function filedPassword({ host, port, database, user }: PasswordRequest): Promise<string> {
  const { PGPASSFILE } = process.env;
  const path = PGPASSFILE || join(homedir(), '.pgpass');
  const mode = await stat(path).then(
    (file) => file.mode,
    (error: NodeJS.ErrnoException) => {
      if (PGPASSFILE || error.code !== 'ENOENT') throw error;
      return null;
    },
  );
  if (mode !== null && (mode & SHARED) !== 0 && process.platform !== 'win32')
    throw new Error(`other users can read the password file ${path}: run chmod 600 ${path}`);
  const wanted = [host.startsWith('/') ? 'localhost' : host, String(port), database, user];
  for (const line of mode === null ? [] : (await readFile(path, 'utf8')).split(/\r?\n/)) {
    const [, ...fields] = line.startsWith('#') ? [] : (LINE.exec(line)?.map(unescaped) ?? []);
    const isMatch = (value: string | undefined, n: number) => fields[n] === '*' || fields[n] === value;
    if (fields.length > 0 && (wanted.every(isMatch) || [host, ...wanted.slice(1)].every(isMatch))) return fields[4]!;
  }
  const example = [...wanted.map((field = '') => escaped(field)), 'PASSWORD'].join(':');
  throw new Error(`no password: set PGPASSWORD, or add a line such as ${example} to ${path}, with mode 600`);
}

const escaped = (field: string): string => field.replace(/[:\\]/g, '\\$&');
const unescaped = (field: string): string => field.replace(/\\(.)/g, '$1');

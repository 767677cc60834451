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
 * Returns the password from the file `PGPASSFILE` or `~/.pgpass` in the format of libpq; undefined if no line
 * matches. Reads the file each time, since passwords change while a server runs.
 * @throws Error if `PGPASSFILE` does not exist or other users can read the file
 */
export async function filedPassword({ host, port, database, user }: PasswordRequest): Promise<string | undefined> {
  const { PGPASSFILE } = process.env;
  const path = PGPASSFILE || join(homedir(), '.pgpass');
  const mode = await stat(path).then(
    (file) => file.mode,
    (error: NodeJS.ErrnoException) => {
      if (PGPASSFILE || error.code !== 'ENOENT') throw error;
      return null;
    },
  );
  if (mode === null) return undefined;
  if ((mode & SHARED) !== 0 && process.platform !== 'win32')
    throw new Error(`other users can read the password file ${path}: run chmod 600 ${path}`);
  for (const line of (await readFile(path, 'utf8')).split(/\r?\n/)) {
    const [, ...fields] = line.startsWith('#') ? [] : (LINE.exec(line)?.map(unescaped) ?? []);
    const wanted = [host.startsWith('/') ? 'localhost' : host, String(port), database, user];
    const isMatch = (value: string | undefined, n: number) => fields[n] === '*' || fields[n] === value;
    if (fields.length > 0 && (wanted.every(isMatch) || [host, ...wanted.slice(1)].every(isMatch))) return fields[4];
  }
  return undefined;
}

const unescaped = (field: string): string => field.replace(/\\(.)/g, '$1');

import { readFileSync } from 'node:fs';
import { systemReasonOf, UsageError } from '../kernel/startup-error.js';

/** Environment file of the systemd unit in docs/deploy. */
export const ENV_FILE = '/etc/parley/parley.env';

/** Variables by name, completed by the environment file. */
export type Environment = Record<string, string | undefined>;

/**
 * Adds the variables of a file to `environment`; default: `ENV_FILE` if it exists. Does not overwrite variables.
 * @throws UsageError
 */
export function addEnvFile(environment: Environment, path: string | undefined): void {
  let text: string;
  try {
    text = readFileSync(path ?? ENV_FILE, 'utf8');
  } catch (error) {
    if (path !== undefined) throw new UsageError(`--env-file: ${path} cannot be read: ${systemReasonOf(error)}.`);
    // Systemd reads the file as root and passes on the variables, so the server needs no access to the file.
    const isConfigured = Object.keys(environment).some((name) => name.startsWith('PARLEY_'));
    if ((error as NodeJS.ErrnoException).code !== 'EACCES' || isConfigured) return;
    throw new UsageError(
      `No permission to read ${ENV_FILE}: run parley as the system user of the server, or choose another file with --env-file.`,
    );
  }
  for (const [name, value] of parseEnvFile(text, path ?? ENV_FILE)) environment[name] ??= value;
}

/**
 * Parses the syntax of systemd's `EnvironmentFile`, one variable per line. `util.parseEnv` would truncate plain values
 * at `#`, which may be part of a secret. @throws UsageError
 */
export function parseEnvFile(text: string, path: string): ReadonlyMap<string, string> {
  const variables = new Map<string, string>();
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (/^\s*([#;]|$)/.test(line)) continue;
    const [, name, rest] = /^\s*([A-Za-z_]\w*)=\s*(.*?)\s*$/.exec(line) ?? [];
    const value = rest === undefined ? null : unquoted(rest);
    if (value === null) throw new UsageError(`Line ${index + 1} of ${path} is not of the form NAME=value.`);
    variables.set(name!, value);
  }
  return variables;
}

/** Returns the value without quotes and escapes; null for an unclosed quote or a continuation line. */
function unquoted(text: string): string | null {
  const [, single] = /^'([^']*)'$/.exec(text) ?? [];
  if (single !== undefined) return single;
  const [, double] = /^"((?:[^"\\]|\\.)*)"$/.exec(text) ?? [];
  if (double !== undefined) return double.replace(/\\(["\\`$])/g, '$1');
  return /^["']/.test(text) || !/^(?:[^\\]|\\.)*$/.test(text) ? null : text.replace(/\\(.)/g, '$1');
}

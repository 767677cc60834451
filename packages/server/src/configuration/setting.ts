import { parseSwitch } from './setting-values.js';

export interface Setting<T> {
  readonly variable: string;
  /** Absent for settings that must not appear on a command line, which every local user can read. */
  readonly flag?: string;
  readonly placeholder?: string;
  readonly help: string;
  /** Switches take no value: `--dev` and `--no-dev`. */
  readonly isSwitch?: boolean;
  /** Never printed. `VARIABLE_FILE` may name a file containing the value. */
  readonly isSecret?: boolean;
  /** @throws Error describing valid values, such as "a number from 0 to 65535" */
  readonly parse: (text: string) => T;
  readonly default: T;
}

export function setting<T>(
  variable: string,
  flag: string,
  placeholder: string,
  help: string,
  parse: (text: string) => T,
  initial: T,
): Setting<T> {
  return { variable, flag, placeholder, help, parse, default: initial };
}

export function switchSetting(variable: string, flag: string, help: string, initial = false): Setting<boolean> {
  return { variable, flag, help, isSwitch: true, parse: parseSwitch, default: initial };
}

import { type SettingType, secret } from '../kernel/values.js';
import { ON_OFF } from './setting-values.js';

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
  /** Type of the value as an option of `createParley`, with its text form for the environment and the command line. */
  readonly type: SettingType<T>;
  readonly default: T;
}

export function setting<T>(
  variable: string,
  flag: string,
  placeholder: string,
  help: string,
  type: SettingType<T>,
  initial: T,
): Setting<T> {
  return { variable, flag, placeholder, help, type, default: initial };
}

export function switchSetting(variable: string, flag: string, help: string, initial = false): Setting<boolean> {
  return { variable, flag, help, isSwitch: true, type: ON_OFF, default: initial };
}

/** Setting that has no flag and is never shown. */
export const secretSetting = <T>(variable: string, help: string, type: SettingType<T>, initial: T): Setting<T> => ({
  variable,
  help,
  isSecret: true,
  type: secret(type),
  default: initial,
});

import type { DatabaseLocation } from './configuration.js';
import { SETTINGS, type Setting, type SettingName } from './settings.js';

/** Where a section of the settings begins; it goes on to the next one. */
const SECTIONS: { readonly [Name in SettingName]?: string } = {
  host: 'Address',
  isDev: 'Trying it out',
  webPublic: 'What people may do',
  trustedProxies: 'Proxies and limits',
  keepDeletedDays: 'What is kept',
  logLevel: 'Logs and other services',
};

interface DescribedSetting extends Pick<Setting<unknown>, 'variable' | 'help' | 'isSecret'> {
  readonly usage: string;
  /** Null: the help says it, or there is none. */
  readonly default: string | null;
  /** Of the section that begins here. */
  readonly section: string | null;
}

const described: readonly DescribedSetting[] = Object.entries(SETTINGS as Record<string, Setting<unknown>>).map(
  ([name, { variable, flag, placeholder, isSwitch, isSecret = false, help, default: fallback }]) => ({
    variable,
    help,
    isSecret,
    usage: flag === undefined ? '' : isSwitch ? `--[no-]${flag}` : `--${flag} ${placeholder}`,
    default: isSwitch ? 'off' : textOf(fallback),
    section: SECTIONS[name as SettingName] ?? null,
  }),
);

/** As it would be given; null: nothing stands for it. */
function textOf(value: unknown): string | null {
  if (value === null) return null;
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (typeof value !== 'object') return String(value);
  return 'path' in value ? `sqlite:${(value as DatabaseLocation).path}` : null;
}

/** What flags and variables mean, one line each. */
export function describeSettings(): string {
  const width = (column: 'usage' | 'variable') => Math.max(...described.map((row) => row[column].length)) + 2;
  const [usageWidth, variableWidth] = [width('usage'), width('variable')];
  return described
    .map(({ usage, variable, help, default: fallback }) => {
      const end = fallback === null || fallback === 'off' ? '' : `; default: ${fallback}`;
      return `  ${usage.padEnd(usageWidth)}${variable.padEnd(variableWidth)}${help}${end}`;
    })
    .join('\n');
}

/** docs/configuration.md. */
export function renderConfigurationDocument(): string {
  const lines = [
    '# Configuration',
    '',
    '<!-- Made by `npm run configuration` from packages/server/src/configuration/settings.ts. -->',
    '',
    'Every setting of `parley` is a variable of the environment, and an option of each command unless it is secret; options win. A',
    'variable that begins with `PARLEY_` and is none of these is refused, and so is an option that a command does not have.',
    '`parley config check` says what is wrong with a configuration, or what it comes to.',
    '',
    'Secrets are taken from the environment only, where not everybody on the machine can read them, or from a file: `PARLEY_SECRET_FILE`',
    'names the file that holds what `PARLEY_SECRET` would say, and so on. An application that embeds Parley gives the same settings to',
    '`createParley` ([embedding.md](embedding.md)).',
  ];
  for (const { section, usage, variable, help, isSecret, default: fallback } of described) {
    if (section !== null) {
      lines.push('', `## ${section}`, '', '| Variable | Option | Default | |', '| --- | --- | --- | --- |');
    }
    const variables = isSecret ? `\`${variable}\`, \`${variable}_FILE\`` : `\`${variable}\``;
    lines.push(`| ${[variables, code(usage), code(fallback ?? ''), help].map(escapeCell).join(' | ')} |`);
  }
  return `${lines.join('\n')}\n`;
}

const code = (text: string): string => (text === '' ? '' : `\`${text}\``);
const escapeCell = (text: string): string => text.replaceAll('|', '\\|');

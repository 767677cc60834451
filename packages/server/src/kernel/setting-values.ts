import type { SettingDefinition } from '@parley/domain/kernel';

/** Words for values that the command line and code write differently. */
export interface ValueWords {
  readonly flag: string;
  readonly none: string;
  readonly channel: string;
}

/** Describes the permitted values of a setting for an error message. */
export function describeValues(definition: SettingDefinition, words: ValueWords): string {
  const none = definition.nullable ? ` or ${words.none}` : '';
  switch (definition.kind) {
    case 'boolean':
      return `${words.flag}${none}`;
    case 'integer':
      return `a number from ${definition.min} to ${definition.max}${none}`;
    case 'limit':
      return `a number above 0${none}`;
    case 'choice':
      return `one of ${definition.values.join(', ')}${none}`;
    case 'text':
      return `${definition.expected ?? `a text of at most ${definition.max} characters`}${none}`;
    case 'channel':
      return `${words.channel}${none}`;
  }
}

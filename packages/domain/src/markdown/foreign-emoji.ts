import { OTHER_NAMES, SLACK_NAMES } from './foreign-emoji-names.js';

const VARIATION = /^(.)\ufe0f?/su;
const MODIFIABLE = /^\p{Emoji_Modifier_Base}/u;
/** Skin tones 2 to 6 in Slack's names are the five modifiers of Unicode. */
const FIRST_TONE = 2;
const TONES = ['🏻', '🏼', '🏽', '🏾', '🏿'];

/** Returns a function that finds the emoji of a name in a table, which it reads at its first call. */
function emojiTable(table: string): (name: string) => string | undefined {
  let characters: ReadonlyMap<string, string> | undefined;
  return (name) => {
    characters ??= new Map(
      table
        .trim()
        .split(/,\s*/)
        .flatMap((entry) => {
          const [character, ...names] = entry.split(' ') as [string, ...string[]];
          return names.map((each) => [each, character] as const);
        }),
    );
    return characters.get(name);
  };
}

const slackNamed = emojiTable(SLACK_NAMES);
const otherwiseNamed = emojiTable(OTHER_NAMES);

/** Returns the emoji with Slack's name and skin tone (2 to 6); null for custom emoji and unknown names. */
export function slackEmoji(name: string, tone?: number): string | null {
  const character = slackNamed(name) ?? TONES[Number(/^skin-tone-([2-6])$/.exec(name)?.[1]) - FIRST_TONE];
  if (character === undefined) return null;
  const modifier = tone === undefined ? undefined : TONES[tone - FIRST_TONE];
  return modifier !== undefined && MODIFIABLE.test(character)
    ? character.replace(VARIATION, `$1${modifier}`)
    : character;
}

/** Returns the standard emoji with a name of Slack, Mattermost, Rocket.Chat or Discord; null for other names. */
export function emojiNamed(name: string): string | null {
  const [, base = name, tone] = /^(.+)_tone([1-5])$/.exec(name) ?? [];
  const standard = base.replace(/^flag_(?=[a-z]{2}$)/, 'flag-');
  // Slack numbers skin tones from 2.
  return slackEmoji(standard, tone === undefined ? undefined : Number(tone) + 1) ?? otherwiseNamed(base) ?? null;
}

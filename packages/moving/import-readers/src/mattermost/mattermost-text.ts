import type { Block, Inline } from '@parley/domain/markdown';
import type { ImportedContent } from '@parley/transfer/records';
import { cardBlocks } from '../cards.js';
import { parseCommonMark } from '../common-markdown.js';
import { References } from '../content.js';
import { emojiOf, splitText } from '../text-tokens.js';

export interface MattermostNames {
  /** Full name of a person by user name. */
  personName(userName: string): string | null;
  /** Name of a channel by its id, the names of team and channel. */
  channelName(id: string): string | null;
}

const EVERYONE: ReadonlySet<string> = new Set(['all', 'channel', 'here']);

/** Mentions, channels and emoji. User names may contain and end in punctuation. */
const TOKEN =
  /(?<![\w@.-])@([a-z0-9][a-z0-9._-]{0,63})|(?<![\w~])~([a-z0-9][a-z0-9_-]{0,63})|(?<!\w):([a-z0-9_+-]{1,64}):/gi;

/** Converts the text of a post in a team; conversations have no team. */
export function mattermostContent(
  markdown: string,
  attachments: readonly unknown[],
  team: string,
  names: MattermostNames,
): ImportedContent {
  const references = new References();
  const parse = (text: string): readonly Block[] =>
    parseCommonMark(text, (piece) => textNodes(piece, team, names, references));
  return references.write([...parse(markdown), ...attachments.flatMap((each) => cardBlocks(each, parse))]);
}

function textNodes(text: string, team: string, names: MattermostNames, references: References): readonly Inline[] {
  return splitText(text, TOKEN, ([whole, mention, channel, emoji]) => {
    if (mention !== undefined) return mentionNode(mention, names, references);
    if (channel !== undefined) {
      const id = `${team}/${channel.toLowerCase()}`;
      const name = names.channelName(id);
      return name === null
        ? null
        : { node: references.add('channel', whole, { link: 'channel', id, label: `#${name}` }) };
    }
    const node = emojiOf(emoji!);
    return node && { node };
  });
}

/** Takes the longest known name: `@ann.` means `ann.` if there is one, and else `ann`. */
function mentionNode(mention: string, names: MattermostNames, references: References) {
  for (let name = mention.toLowerCase(); name !== ''; name = name.slice(0, -1)) {
    const length = name.length + 1;
    if (EVERYONE.has(name)) return { node: references.add('everyone', name, { mention: 'everyone' }), length };
    const fullName = names.personName(name);
    if (fullName !== null)
      return { node: references.add('user', fullName, { mention: 'person', id: name, name: fullName }), length };
    if (!/[._-]$/.test(name)) break;
  }
  return null;
}

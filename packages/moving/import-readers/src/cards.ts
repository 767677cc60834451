import { type Block, type Inline, jsonText, listOfJson, paragraph, plain } from '@parley/domain/markdown';
import { field } from './fields.js';

const textOf = (value: unknown, name: string): string => jsonText(field(value, name));
const listOf = (value: unknown, name: string): readonly unknown[] => listOfJson(field(value, name));

/** Converts a card of an integration, in the form of Slack's attachments with Markdown. */
export function cardBlocks(attachment: unknown, parse: (text: string) => readonly Block[]): readonly Block[] {
  if (typeof attachment !== 'object') return parse(jsonText(attachment));
  const linked = (text: string, url: string): readonly Inline[] => {
    if (text === '' || url === '') return text === '' ? [] : [plain(text)];
    // An address without a scheme is not a link.
    return /^[a-z][\w+.-]*:/i.test(url)
      ? [{ type: 'link', url, children: [plain(text)] }]
      : [plain(`${text} (${url})`)];
  };
  const line = (inlines: readonly Inline[]): readonly Block[] => (inlines.length === 0 ? [] : [paragraph(inlines)]);
  const title = linked(textOf(attachment, 'title'), textOf(attachment, 'title_link'));
  const image = textOf(attachment, 'image_url') || textOf(attachment, 'thumb_url');
  const fields = listOf(attachment, 'fields').flatMap((each): readonly Block[] => {
    if (field(each, 'title') === undefined && field(each, 'value') === undefined) return parse(jsonText(each));
    const name = textOf(each, 'title');
    return [...line(name === '' ? [] : [{ type: 'strong', children: [plain(name)] }]), ...parse(textOf(each, 'value'))];
  });
  const buttons = listOf(attachment, 'actions')
    .map(
      (each) =>
        textOf(each, 'name') || (typeof each === 'object' && each !== null && 'type' in each ? '' : jsonText(each)),
    )
    .filter((name) => name !== '');
  const blocks = [
    ...parse(textOf(attachment, 'pretext')),
    ...line(linked(textOf(attachment, 'author_name'), textOf(attachment, 'author_link'))),
    ...line(title.length === 0 ? [] : [{ type: 'strong', children: title }]),
    ...parse(textOf(attachment, 'text')),
    ...fields,
    ...line(image === '' ? [] : linked('image', image)),
    ...line(buttons.length === 0 ? [] : [plain(buttons.join(' · '))]),
    ...line(
      textOf(attachment, 'footer') === '' ? [] : [{ type: 'em', children: [plain(textOf(attachment, 'footer'))] }],
    ),
  ];
  return blocks.length > 0 ? blocks : parse(textOf(attachment, 'fallback'));
}

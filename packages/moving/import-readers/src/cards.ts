import { type Block, type Inline, paragraph, plain } from '@parley/domain/markdown';
import { field, listOf, textOf } from './fields.js';

/** Converts a card of an integration, in the form of Slack's attachments with Markdown. */
export function cardBlocks(attachment: unknown, parse: (text: string) => readonly Block[]): readonly Block[] {
  const linked = (text: string, url: string): readonly Inline[] =>
    text === '' ? [] : [url === '' ? plain(text) : { type: 'link', url, children: [plain(text)] }];
  const line = (inlines: readonly Inline[]): readonly Block[] => (inlines.length === 0 ? [] : [paragraph(inlines)]);
  const title = linked(textOf(attachment, 'title'), textOf(attachment, 'title_link'));
  const image = textOf(attachment, 'image_url') || textOf(attachment, 'thumb_url');
  const fields = listOf(attachment, 'fields').flatMap((each): readonly Block[] => {
    const value = field(each, 'value');
    const name = textOf(each, 'title');
    return [
      ...line(name === '' ? [] : [{ type: 'strong', children: [plain(name)] }]),
      ...(typeof value === 'object' ? [] : parse(String(value ?? ''))),
    ];
  });
  const buttons = listOf(attachment, 'actions')
    .map((each) => textOf(each, 'name'))
    .filter((name) => name !== '');
  const blocks = [
    ...parse(textOf(attachment, 'pretext')),
    ...line(linked(textOf(attachment, 'author_name'), textOf(attachment, 'author_link'))),
    ...line(title.length === 0 ? [] : [{ type: 'strong', children: title }]),
    ...parse(textOf(attachment, 'text')),
    ...fields,
    ...line(image === '' ? [] : [{ type: 'link', url: image, children: [plain('image')] }]),
    ...line(buttons.length === 0 ? [] : [plain(buttons.join(' · '))]),
    ...line(
      textOf(attachment, 'footer') === '' ? [] : [{ type: 'em', children: [plain(textOf(attachment, 'footer'))] }],
    ),
  ];
  return blocks.length > 0 ? blocks : parse(textOf(attachment, 'fallback'));
}

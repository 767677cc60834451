import type { RealmCopy } from '@parley/domain/exports';
import type { CustomEmojiId } from '@parley/domain/kernel';
import { EMOJI_NAME } from '../parley-shapes.js';
import { flag, id, integer, list, orElse, orNull, text } from '../shape.js';
import { user } from './columns.js';
import type { TableReader } from './table-reader.js';

export function readLinkifiers(tables: TableReader): RealmCopy['linkifiers'] {
  const rows = tables.table('zerver_realmfilter', {
    id: integer,
    pattern: text(10_000),
    url_template: text(10_000),
    example_input: orNull(text(10_000)),
    reverse_template: orNull(text(10_000)),
    alternative_url_templates: orElse(list(text(10_000), 1000), []),
    order: orElse(integer, 0),
  });
  return [...rows]
    .sort((a, b) => a.order - b.order || a.id - b.id)
    .map((it) => ({
      id: it.id,
      pattern: it.pattern,
      urlTemplate: it.url_template,
      exampleInput: it.example_input,
      reverseTemplate: it.reverse_template,
      alternativeUrlTemplates: it.alternative_url_templates,
    }));
}

export function readCustomEmoji(tables: TableReader): RealmCopy['customEmoji'] {
  const rows = tables.table('zerver_realmemoji', {
    id: id<CustomEmojiId>(),
    author: orNull(user),
    name: EMOJI_NAME,
    file_name: orNull(text(100)),
    is_animated: orElse(flag, false),
    deactivated: orElse(flag, false),
  });
  return [...rows]
    .sort((a, b) => a.id - b.id)
    .map((it) => ({
      id: it.id,
      name: it.name,
      authorId: it.author,
      // Found out when the picture is made.
      format: 'png',
      isAnimated: it.is_animated,
      isDeactivated: it.deactivated,
      fileName: it.file_name ?? `${it.id}.png`,
    }));
}

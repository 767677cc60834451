import type { Snippet } from '@parley/domain/snippets';

/** Users §18. */
export const presentSnippet = ({ id, title, content, createdAt }: Snippet) => ({
  id,
  title,
  content,
  date_created: createdAt,
});

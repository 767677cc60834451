import type { Snippet } from '@parley/domain/messages';

/** Users §18. */
export const presentSnippet = ({ id, title, content, createdAt }: Snippet) => ({
  id,
  title,
  content,
  date_created: createdAt,
});

import type { FileView } from '@parley/domain/files';

/** An attachment, as lists and events have it (users §16). */
export const presentFile = ({ id, name, pathId, size, createdAt, messageIds }: FileView) => ({
  id,
  name,
  path_id: pathId,
  size,
  create_time: createdAt,
  message_ids: messageIds,
});

import { fileReferences, type MessageRecord } from '@parley/transfer/records';

/** Maximum number of files of one message, so that their links fit regardless of their names. */
export const MAX_FILES = 20;

/** Divides a message with more files than `MAX_FILES`: further messages after it contain the others. */
export function* messageParts(record: MessageRecord): Generator<MessageRecord> {
  const ids = [...new Set(fileReferences(record).map(({ id }) => id))];
  if (ids.length <= MAX_FILES) {
    yield record;
    return;
  }
  const { id, thread, replyTo: _, isBroadcast: __, unsupported: ___, editedAt: ____, ...place } = record;
  const own = new Set(ids.slice(0, MAX_FILES));
  yield { ...record, files: record.files?.filter((file) => own.has(file)) ?? [] };
  for (let start = MAX_FILES; start < ids.length; start += MAX_FILES) {
    yield {
      ...{ ...place, id: `${id}#${start}`, content: '', files: ids.slice(start, start + MAX_FILES) },
      // A message is the first one of a thread only if it has replies.
      ...(thread !== undefined && thread !== id && { thread }),
    };
  }
}

import { ConversationList as List } from '../element/conversation-list.js';
import { Part, type PartProps } from '../element/part.js';

/** Conversations with unread counts. Handle link clicks with `onOpen`. */
export function ConversationList(props: PartProps) {
  return (
    <Part {...props}>
      <List />
    </Part>
  );
}

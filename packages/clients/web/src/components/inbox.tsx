import { type PartProps, SmallPart } from '../element/part.js';
import { InboxPage } from '../inbox/inbox-page.js';
import { RecentPage } from '../inbox/recent-page.js';

/** Unread conversations. Handle link clicks with `onOpen`. */
export function Inbox(props: PartProps) {
  return (
    <SmallPart {...props}>
      <InboxPage />
    </SmallPart>
  );
}

/** Conversations with the newest messages. Handle link clicks with `onOpen`. */
export function RecentConversations(props: PartProps) {
  return (
    <SmallPart {...props}>
      <RecentPage />
    </SmallPart>
  );
}

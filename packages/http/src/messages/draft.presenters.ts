import type { Draft } from '@parley/domain/messages';

/** Users §17. */
export const presentDraft = ({ id, to, content, editedAt }: Draft) => ({
  id,
  ...presentAddressee(to),
  content,
  timestamp: Math.floor(editedAt),
});

function presentAddressee(to: Draft['to']) {
  switch (to.kind) {
    case 'channel':
      return { type: 'stream', to: [to.channelId], topic: to.topic };
    case 'direct':
      return { type: 'private', to: to.userIds, topic: '' };
    case 'nobody':
      return { type: '', to: [], topic: '' };
  }
}

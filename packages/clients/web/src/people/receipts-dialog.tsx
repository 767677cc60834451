import { useLingui } from '@lingui/react';
import { useEffect, useState } from 'react';
import { Dialog, FailureText } from '../kit/dialog.js';
import { Loading } from '../kit/loading.js';
import overlays from '../kit/overlays.module.css';
import { useServices } from '../services/context.js';
import type { Refusal } from '../services/reasons.js';
import { PeopleList } from './people-list.js';

/** People who have read a message. */
export function ReceiptsDialog({ messageId }: { readonly messageId: number }) {
  const { i18n } = useLingui();
  const { client } = useServices();
  const [userIds, setUserIds] = useState<readonly number[] | null>(null);
  const [failure, setFailure] = useState<Refusal | null>(null);
  useEffect(() => {
    client
      .get('/messages/{message_id}/read_receipts', { message_id: messageId })
      .then((answer) => setUserIds(answer.user_ids))
      .catch(setFailure);
  }, [client, messageId]);
  return (
    <Dialog title={i18n._('Read receipts')}>
      <div className={overlays.scroll}>
        <FailureText failure={failure} />
        {userIds === null && failure === null && <Loading />}
        {userIds !== null && (
          <>
            <p>
              {i18n._(
                '{count, plural, =0 {Nobody has read this message yet.} one {# person has read this message.} other {# people have read this message.}}',
                { count: userIds.length },
              )}
            </p>
            <PeopleList userIds={userIds} label={i18n._('Read receipts')} />
          </>
        )}
      </div>
    </Dialog>
  );
}

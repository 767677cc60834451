import { OverlayHost } from '../kit/overlay.js';
import { useDrawn } from '../services/loading.js';
import { Sidebar } from '../sidebar/sidebar.js';
import styles from './element.module.css';

/** Conversations with unread counts. */
export function ConversationList() {
  useDrawn(true);
  return (
    <>
      <div className={styles.list} part="sidebar">
        <Sidebar />
      </div>
      <OverlayHost />
    </>
  );
}

import { useLingui } from '@lingui/react';
import { useContentWorld } from '../app/content-world.js';
import { ConnectionLine, DoneLine, FailureLine } from '../app/lines.js';
import { Page } from '../app/page.js';
import { ContentContext } from '../content/message-body.js';
import { ErrorBoundary } from '../kit/error-boundary.js';
import { OverlayHost } from '../kit/overlay.js';
import { useAddress } from '../services/context.js';
import styles from './element.module.css';

/** A single conversation. */
export function Conversation() {
  const { i18n } = useLingui();
  const { hash } = useAddress();
  return (
    <ContentContext.Provider value={useContentWorld()}>
      <section className={styles.conversation} aria-label={i18n._('Chat')}>
        <ConnectionLine />
        <FailureLine />
        <DoneLine />
        <ErrorBoundary key={hash} text={i18n._('This page could not be shown.')}>
          <Page />
        </ErrorBoundary>
      </section>
      <OverlayHost />
    </ContentContext.Provider>
  );
}

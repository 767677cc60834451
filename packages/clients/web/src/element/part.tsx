import { useLingui } from '@lingui/react';
import { type CSSProperties, type MouseEvent, type ReactNode, useCallback, useEffect, useMemo, useRef } from 'react';
import { useContentWorld } from '../app/content-world.js';
import { ContentContext } from '../content/message-body.js';
import { mounted } from '../kit/mounted.js';
import { OverlayHost } from '../kit/overlay.js';
import { ServicesContext, useAddress, useServices } from '../services/context.js';
import { useDrawn } from '../services/loading.js';
import { type Navigation, OwnNavigation, PageNavigation } from '../services/location.js';
import styles from './element.module.css';
import { hashOfLink } from './links.js';
import { type Named, namedBy, type Place, type Tell, useStart } from './place.js';
import type { ElementEvents, Theme } from './types.js';

export interface PartProps {
  readonly className?: string;
  /** Default: the system's preference. Both parts can be combined, as in `dark high-contrast`. */
  readonly theme?: Theme;
  /** `page`: the current place is part of the page's address. Default: it is not. */
  readonly address?: 'page';
  /** Called with the unread count, initially and on each change. */
  readonly onUnread?: (count: number) => void;
  /** Called when the user follows a chat link. Return `false` to prevent navigation. */
  readonly onOpen?: (address: string) => boolean | undefined;
  /** Called when the user selects a person; return `false` to keep the chat's card closed. */
  readonly onPerson?: (userId: number) => boolean | undefined;
}

interface FrameProps extends PartProps, Place {
  /** True for a part sized by its content; others fill their container. */
  readonly isInline?: boolean;
  readonly children: ReactNode;
}

const INLINE: CSSProperties = { height: 'auto', overflow: 'visible' };

/** Root element of a part in the product's page; scopes its styles and contains its menus. */
export function Part({
  className,
  theme,
  address,
  onUnread,
  onOpen,
  onPerson,
  isInline = false,
  children,
  ...place
}: FrameProps) {
  const services = useServices();
  const { i18n } = useLingui();
  const navigation = useMemo<Navigation>(
    () => (address === 'page' ? new PageNavigation(() => '#inbox', true) : new OwnNavigation('#inbox')),
    [address],
  );
  const tell = useCallback(
    <N extends keyof ElementEvents>(name: N, detail: ElementEvents[N]): boolean => {
      if (name === 'parley-unread') onUnread?.((detail as ElementEvents['parley-unread']).count);
      if (name === 'parley-open') return onOpen?.((detail as ElementEvents['parley-open']).address) !== false;
      return true;
    },
    [onUnread, onOpen],
  );
  const root = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = mounted(root);
    const onClick = (event: CustomEventInit<ElementEvents['parley-person']> & Event) => {
      if (onPerson?.(event.detail!.userId) === false) event.preventDefault();
    };
    element.addEventListener('parley-person', onClick);
    return () => element.removeEventListener('parley-person', onClick);
  }, [onPerson]);
  const follow = (event: MouseEvent) => {
    const hash = hashOfLink(event.nativeEvent, services.baseUrl);
    if (hash === null) return;
    event.preventDefault();
    if (tell('parley-open', { address: hash })) navigation.navigate(hash);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: only links within are followed.
    // biome-ignore lint/a11y/useKeyWithClickEvents: the Enter key clicks a link.
    <div
      ref={root}
      className={className}
      style={isInline ? INLINE : undefined}
      data-parley=""
      data-theme={theme}
      lang={i18n.locale}
      onClick={follow}
    >
      <ServicesContext.Provider value={{ ...services, navigation }}>
        <Contents place={namedBy(place)} tell={tell}>
          {children}
        </Contents>
      </ServicesContext.Provider>
    </div>
  );
}

interface ContentsProps {
  readonly place: Named;
  readonly tell: Tell;
  readonly children: ReactNode;
}

function Contents({ place, tell, children }: ContentsProps) {
  const { i18n } = useLingui();
  const start = useStart(place, tell);
  if (start === null) return <p className={styles.line}>{i18n._('There is no such conversation.')}</p>;
  return children;
}

/** Part smaller than a view: provides the surroundings that views have themselves. */
export function SmallPart({ children, ...props }: FrameProps) {
  return (
    <Part {...props}>
      <Surroundings>{children}</Surroundings>
    </Part>
  );
}

function Surroundings({ children }: { readonly children: ReactNode }) {
  // Messages and the field report themselves.
  useDrawn(useAddress().address?.view !== 'narrow');
  return (
    <ContentContext.Provider value={useContentWorld()}>
      {children}
      <OverlayHost />
    </ContentContext.Provider>
  );
}

import { createContext } from 'react';
import { type ContentNode, parseContent } from './tree.js';

/** Message file shown in the viewer. */
export interface Media {
  readonly kind: 'image' | 'video' | 'audio';
  /** Original. */
  readonly href: string;
  /** Thumbnail to show if the browser cannot display the original. */
  readonly preview: string | null;
  readonly title: string;
}

/** Returns the organization's files in the surrounding messages, oldest first. Null if there is no viewer. */
export const MediaContext = createContext<(() => readonly Media[]) | null>(null);

/** Returns the organization's files in a message; files from other sites load only on a click. */
export const mediaIn = (html: string, baseUrl: string): readonly Media[] =>
  parseContent(html, baseUrl)
    .flatMap(mediaOf)
    .filter(({ href }) => href.startsWith(baseUrl));

function mediaOf(node: ContentNode): readonly Media[] {
  if (typeof node === 'string') return [];
  if (node.type === 'image' && !node.isVideoPreview)
    return [{ kind: 'image', href: node.href, preview: node.src, title: node.title }];
  if (node.type === 'video' || node.type === 'audio')
    return [{ kind: node.type, href: node.src, preview: null, title: node.title }];
  return 'children' in node ? node.children.flatMap(mediaOf) : [];
}

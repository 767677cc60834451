import { createContext } from 'react';
import { type ContentNode, parseContent } from './tree.js';

/** File of a message that the viewer shows. */
export interface Media {
  readonly kind: 'image' | 'video' | 'audio';
  /** Original. */
  readonly href: string;
  /** Thumbnail that is shown if the browser cannot draw the original. */
  readonly preview: string | null;
  readonly title: string;
}

/** Returns the organization's files of the messages around, oldest first. Null where there is no viewer. */
export const MediaContext = createContext<(() => readonly Media[]) | null>(null);

/** Returns the organization's own files in the HTML of a message; those of other sites load on a click only. */
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

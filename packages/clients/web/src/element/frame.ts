/**
 * Script of the page that other origins embed as a frame. Shows the element with attributes from the query, and
 * forwards its events to the host page.
 */
import { Frame } from '../services/frame.js';

const ATTRIBUTES = ['view', 'channel', 'topic', 'direct', 'lang', 'theme', 'dates', 'links', 'sends', 'tools'];
const EVENTS = ['parley-unread', 'parley-sent', 'parley-person', 'parley-open'];

const ancestors = document.querySelector<HTMLMetaElement>('meta[name=parley-frame-ancestors]')!.content.split(' ');
const frame = new Frame(new URL(/* @vite-ignore */ '..', import.meta.url).href, ancestors);
for (const name of EVENTS) {
  document.addEventListener(name, (event) => frame.tell(name, (event as CustomEvent<unknown>).detail));
}

void import('./parley-chat.js').then(({ define }) => {
  define({ styleSheet: '__PARLEY_STYLE_SHEET__', fonts: '__PARLEY_FONTS__' }, frame);
  const element = document.createElement('parley-chat');
  const query = new URLSearchParams(location.search);
  for (const name of ATTRIBUTES) {
    const value = query.get(name);
    if (value !== null) element.setAttribute(name, value);
  }
  element.style.height = '100dvh';
  document.body.style.margin = '0';
  document.documentElement.style.colorScheme = query.get('theme')?.match(/light|dark/)?.[0] ?? 'light dark';
  document.body.append(element);
});

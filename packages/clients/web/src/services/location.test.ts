import { getEventListeners } from 'node:events';
import { PageNavigation } from './location.js';

describe('the navigation of a page', () => {
  const page = new EventTarget();

  beforeAll(() => {
    Object.assign(globalThis, { addEventListener: page.addEventListener.bind(page) });
  });
  afterAll(() => Reflect.deleteProperty(globalThis, 'addEventListener'));

  it('listens to the page while it has subscribers', () => {
    const counts = () => ['hashchange', 'click'].map((type) => getEventListeners(page, type).length);
    const navigation = new PageNavigation(() => '#inbox');
    expect(counts()).toEqual([0, 0]);
    const ends = [navigation.subscribe(() => {}), navigation.subscribe(() => {})];
    expect(counts()).toEqual([1, 1]);
    ends[0]!();
    expect(counts()).toEqual([1, 1]);
    ends[1]!();
    expect(counts()).toEqual([0, 0]);
    const changes: string[] = [];
    navigation.subscribe(() => changes.push('again'));
    page.dispatchEvent(new Event('hashchange'));
    expect(changes).toEqual(['again']);
  });
});

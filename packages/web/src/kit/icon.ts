import type { LucideProps } from 'lucide-react';
import { createElement, type SVGAttributes } from 'react';

type Shape = readonly [tag: string, attributes: SVGAttributes<SVGElement>];

/** Returns the component of an icon. Called by the modules of `lucide-react` (`icons-plugin.ts`). */
export function icon(name: string, shapes: readonly Shape[]) {
  const children = shapes.map(([tag, attributes], key) => createElement(tag, { key, ...attributes }));
  return ({ size, color = 'currentColor', className = '', ...props }: LucideProps) =>
    createElement(
      'svg',
      {
        width: size,
        height: size,
        viewBox: '0 0 24 24',
        fill: 'none',
        stroke: color,
        strokeWidth: 2,
        strokeLinecap: 'round',
        strokeLinejoin: 'round',
        className: `lucide-${name} ${className}`,
        'aria-hidden': !props['aria-label'],
        ...props,
      },
      children,
    );
}

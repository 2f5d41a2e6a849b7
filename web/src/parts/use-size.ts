// The size of an element, as a hook.

import { useLayoutEffect, useRef, useState } from 'preact/hooks';

export interface Size {
  readonly width: number;
  readonly height: number;
}

export function useSize<T extends HTMLElement>(): { readonly ref: { current: T | null }; readonly size: Size } {
  const ref = useRef<T | null>(null);
  const [size, setSize] = useState<Size>({ width: 0, height: 0 });
  useLayoutEffect(() => {
    const element = ref.current;
    if (!element) return;
    const measure = () => setSize({ width: element.clientWidth, height: element.clientHeight });
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return { ref, size };
}

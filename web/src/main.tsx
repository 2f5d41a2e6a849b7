// Starts the page.

import { render } from 'preact';
import { App } from './app.tsx';
import { startMarkets } from './state/markets.ts';
import './script-access.ts';

startMarkets();
const root = document.getElementById('app');
if (root) render(<App />, root);

<?php

namespace App;

use App\Controller\WebController;
use Doctrine\DBAL\Connection;
use Doctrine\DBAL\DriverManager;
use Symfony\Bundle\FrameworkBundle\FrameworkBundle;
use Symfony\Bundle\FrameworkBundle\Kernel\MicroKernelTrait;
use Symfony\Bundle\TwigBundle\TwigBundle;
use Symfony\Component\DependencyInjection\Loader\Configurator\ContainerConfigurator;
use Symfony\Component\HttpKernel\Kernel as BaseKernel;
use Symfony\Component\Routing\Loader\Configurator\RoutingConfigurator;

class Kernel extends BaseKernel
{
    use MicroKernelTrait;

    private const ROUTES = 1000;

    public function registerBundles(): iterable
    {
        yield new FrameworkBundle();
        yield new TwigBundle();
    }

    public function getProjectDir(): string
    {
        return dirname(__DIR__);
    }

    private function configureContainer(ContainerConfigurator $container): void
    {
        // TwigBundle asks for a secret. Nothing is signed here.
        $container->extension('framework', ['http_method_override' => false, 'secret' => 'nothing is signed']);

        // The address is that of the environment in which a request comes.
        $container->parameters()->set('env(DATABASE_URL)', 'postgresql://127.0.0.1/none');
        $services = $container->services();
        $services->set(Connection::class)
            ->factory([DriverManager::class, 'getConnection'])
            ->args([['url' => '%env(DATABASE_URL)%']]);
        $services
            ->load('App\\Controller\\', __DIR__ . '/Controller/')
            ->autowire()
            ->autoconfigure();
    }

    private function configureRoutes(RoutingConfigurator $routes): void
    {
        $routes->import(__DIR__ . '/Controller/', 'annotation');
        for ($k = 0; $k < self::ROUTES; $k++) {
            $routes->add("numbered_$k", "/r/$k/x/{id}")
                ->controller([WebController::class, 'numbered'])
                ->defaults(['k' => $k])
                ->requirements(['id' => '\d{1,9}'])
                ->methods(['GET']);
        }
    }
}
